// How a space is searched: a strategy proposes parameter vectors and observes what they cost. All are deterministic:
// the same space, costs and seed give the same proposals on every host and library.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "explore/tuning/evaluator.h"
#include "explore/tuning/space.h"

namespace attnvp::explore {

class Strategy {
 public:
  virtual ~Strategy() = default;
  // Legal vectors to evaluate next, which do not depend on each other's cost; none: the strategy has ended.
  virtual std::vector<ParameterVector> propose() = 0;
  // The cost of a vector that was proposed; each is observed before the next proposal.
  virtual void observe(const ParameterVector& vector, const Cost& cost) = 0;
  // A vector that costs more is of no use, and need not be run to its end.
  virtual double limit() const { return Cost().first; }
  // No vector of the space costs less than the best that was observed.
  virtual bool is_complete() const { return false; }
};

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

// Multi-start coordinate descent: from the cheapest of the starting points to a neighbour that costs less, again and
// again; then from the next cheapest.
class Descent final : public Strategy {
 public:
  explicit Descent(Space& space, std::vector<ParameterVector> starts);
  std::vector<ParameterVector> propose() override;
  void observe(const ParameterVector& vector, const Cost& cost) override;
  double limit() const override;

 private:
  void move_to(const ParameterVector& vector, const Cost& cost);

  Space& space_;
  std::vector<ParameterVector> starts_;                      // not evaluated yet
  std::vector<std::pair<Cost, ParameterVector>> evaluated_;  // starting points that were not descended from
  std::map<ParameterVector, Cost> known_;
  bool begun_ = false;
  ParameterVector here_;
  Cost here_cost_, best_;
  std::vector<Space::Neighbour> neighbours_;          // of here_, not tried yet, the next one last
  std::map<std::uint32_t, std::uint64_t> successes_;  // move to when it last led to a lower cost
  std::uint64_t steps_ = 0;
};

// Every legal combination of the coarse values.
class Grid final : public Strategy {
 public:
  explicit Grid(Space& space) : space_(space), next_(space.parameters(), 0) {}
  std::vector<ParameterVector> propose() override;
  void observe(const ParameterVector& /*vector*/, const Cost& cost) override { best_ = std::min(best_, cost.first); }
  double limit() const override { return best_; }
  bool is_complete() const override { return ended_; }

 private:
  Space& space_;
  std::vector<std::size_t> next_;
  bool ended_ = false;
  double best_ = Cost().first;
};

// Selection, crossover and mutation (MAS-Attention, section 4.2) over the coarse values: tournament selection, uniform
// crossover, mutation of a value to a neighbouring or to any one; the best two survive.
class Genetic final : public Strategy {
 public:
  Genetic(Space& space, std::uint64_t seed, std::vector<ParameterVector> starts);
  std::vector<ParameterVector> propose() override;
  void observe(const ParameterVector& vector, const Cost& cost) override;

 private:
  struct Individual {
    ParameterVector genes;
    Cost cost;
  };
  const Individual& select();
  ParameterVector child();
  ParameterVector random_vector();

  Space& space_;
  Random random_;
  std::vector<ParameterVector> starts_;
  std::vector<Individual> population_;
  std::map<ParameterVector, Cost> known_;
  int idle_ = 0;  // generations that brought nothing new
  bool begun_ = false;
};

// Monte Carlo tree search (MAS-Attention, section 4.2) over the coarse values: a node fixes one more parameter than its
// parent; children are chosen by UCT; a rollout fixes the rest at random.
class Mcts final : public Strategy {
 public:
  Mcts(Space& space, std::uint64_t seed) : space_(space), random_(seed), nodes_(1) {}
  std::vector<ParameterVector> propose() override;
  void observe(const ParameterVector& vector, const Cost& cost) override;

 private:
  struct Node {
    std::uint32_t depth = 0, value = 0;  // parameters fixed; the value of the last of them
    std::uint32_t visits = 0;
    double sum = 0, best = 0;  // rewards
    bool closed = false;       // every vector below is known
    std::vector<std::uint32_t> children;
  };
  void expand(std::uint32_t node);
  std::uint32_t choose(const Node& node);
  void reward(double reward);

  Space& space_;
  Random random_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> path_;
  std::map<ParameterVector, Cost> known_;
  double reference_ = 0;  // the first finite cost: rewards are relative to it
};

// "descent", "grid", "ga", "mcts"; nullptr: there is none of that name.
std::unique_ptr<Strategy> make_strategy(const std::string& name, Space& space, std::uint64_t seed,
                                        std::vector<ParameterVector> starts);

}  // namespace attnvp::explore
