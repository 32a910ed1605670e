// Ways through the space. All are deterministic: same problem, budget and seed, same sequence of simulations, on every
// host and library.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "explore/search/evaluator.h"

namespace attnvp::explore {

// Raw integers of a generator that the standard defines bit by bit; the standard's distributions are not.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t below(std::uint64_t n) { return engine_() % n; }  // n is small: the bias is below n / 2^64
  bool percent(std::uint64_t chance) { return below(100) < chance; }
  double unit() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }  // [0, 1)

 private:
  std::mt19937_64 engine_;
};

constexpr int kDraws = 4;  // a random start is the best of so many

class Strategy {
 public:
  virtual ~Strategy() = default;
  // Until the evaluator's budget is spent or nothing is left to try.
  virtual void run(Evaluator& evaluator) = 0;
  // The best found is the space's best for certain.
  virtual bool complete() const { return false; }
};

// Every point, the one with the least bound first, so that pruning cuts off all that come after the first hopeless one.
class Grid final : public Strategy {
 public:
  void run(Evaluator& evaluator) override;
  bool complete() const override { return complete_; }

 private:
  bool complete_ = false;
};

// Selection, crossover and mutation (MAS-Attention, section 4.2): tournament selection, uniform crossover, every tile
// size mutated with a small probability to a neighbouring or to any value, the best two survive.
class Genetic final : public Strategy {
 public:
  // `start` joins the first population.
  Genetic(std::uint64_t seed, std::vector<Point> start) : random_(seed), start_(std::move(start)) {}
  void run(Evaluator& evaluator) override;

 private:
  struct Individual {
    Point genes;
    double cost = 0;
  };
  const Individual& select(const std::vector<Individual>& population);
  Point child_of(const Space& space, const Point& a, const Point& b);
  Point random_point(const Evaluator& evaluator);

  Random random_;
  std::vector<Point> start_;
};

// Monte Carlo tree search: a node fixes one more tile size than its parent; children are chosen by UCT; a rollout fixes
// the rest at random; a node whose every point is known or hopeless is closed.
class Mcts final : public Strategy {
 public:
  explicit Mcts(std::uint64_t seed) : random_(seed) {}
  void run(Evaluator& evaluator) override;

 private:
  struct Node {
    std::uint64_t first = 0;  // number of its first point
    std::uint32_t depth = 0;  // dimensions fixed
    std::uint32_t visits = 0;
    double sum = 0, best = 0;  // rewards
    bool closed = false;
    Cost least;                           // bound of its points
    std::vector<std::uint32_t> children;  // indices of nodes, made at the first visit
  };
  void expand(const Evaluator& evaluator, std::uint32_t node);
  bool open(const Evaluator& evaluator, const Node& node) const;
  std::uint32_t choose(const Evaluator& evaluator, const Node& node);
  std::uint64_t roll_out(const Evaluator& evaluator, const Node& node);

  Random random_;
  std::vector<Node> nodes_;
};

// "grid", "ga" or "mcts"; nullptr for another name.
std::unique_ptr<Strategy> make_strategy(const std::string& name, std::uint64_t seed, std::vector<Point> start = {});

}  // namespace attnvp::explore
