// Search strategy: proposes parameter vectors and observes their costs. All strategies are deterministic: space, costs
// and seed determine the proposals on every host and library.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "explore/tuning/evaluator.h"
#include "explore/tuning/space.h"
#include "platform/base/random.h"

namespace attnvp::explore {

class Strategy {
 public:
  virtual ~Strategy() = default;
  // Vectors to evaluate next, independent of each other's cost; empty: the strategy has ended. The tuner evaluates a
  // vector only once, and no illegal one; it ends a strategy that proposes no new ones.
  virtual std::vector<ParameterVector> propose() = 0;
  // Reports the cost of a proposed vector. Every vector is observed before the next proposal.
  virtual void observe(const ParameterVector& vector, const Cost& cost) = 0;
  // Vectors above this cost are not useful, and their runs may be stopped.
  virtual double limit() const { return kNoLimit; }
  // True if no vector of the space costs less than the best observed one.
  virtual bool is_complete() const { return false; }
};

// Multi-start coordinate descent: from the cheapest starting point, repeatedly to a cheaper neighbour; then from the
// next cheapest.
class Descent final : public Strategy {
 public:
  Descent(Space& space, std::vector<ParameterVector> starts) : space_(space), starts_(std::move(starts)) {}
  std::vector<ParameterVector> propose() override;
  void observe(const ParameterVector& vector, const Cost& cost) override;
  double limit() const override;

 private:
  void move_to(const ParameterVector& vector, const Cost& cost);

  Space& space_;
  std::vector<ParameterVector> starts_;             // not evaluated yet
  std::multimap<Cost, ParameterVector> evaluated_;  // starting points without a descent
  std::set<ParameterVector> known_;
  Cost here_, best_;                                  // cost of the current vector, and the least
  std::vector<Space::SpaceNeighbour> neighbours_;     // remaining neighbours of the current vector, the next one last
  std::map<std::uint32_t, std::uint64_t> successes_;  // move to the step at which it last reduced the cost; 0: never
  std::uint64_t steps_ = 0;
};

// Exhaustive search over the coarse values.
class GridSearch final : public Strategy {
 public:
  explicit GridSearch(const Space& space) : space_(space), next_(space.parameters(), 0) {}
  std::vector<ParameterVector> propose() override;
  void observe(const ParameterVector& /*vector*/, const Cost& cost) override { best_ = std::min(best_, cost.first); }
  double limit() const override { return best_; }
  bool is_complete() const override { return ended_; }

 private:
  const Space& space_;
  std::vector<std::size_t> next_;
  bool ended_ = false;
  double best_ = kNoLimit;
};

// Genetic algorithm (MAS-Attention, section 4.2) over the coarse values: tournament selection, uniform crossover,
// mutation to a neighbouring or random value, elitism of two.
class Genetic final : public Strategy {
 public:
  Genetic(Space& space, std::uint64_t seed, std::vector<ParameterVector> starts)
      : space_(space), random_(seed), starts_(std::move(starts)) {}
  std::vector<ParameterVector> propose() override;
  void observe(const ParameterVector& vector, const Cost& cost) override { population_.emplace_back(cost, vector); }

 private:
  const ParameterVector& select();
  ParameterVector child();
  ParameterVector random_vector();

  Space& space_;
  RandomSource random_;
  std::vector<ParameterVector> starts_;
  std::vector<std::pair<Cost, ParameterVector>> population_;
};

// Monte Carlo tree search (MAS-Attention, section 4.2) over the coarse values. A node fixes one parameter more than its
// parent, UCT selects children, and a rollout fixes the others at random.
class Mcts final : public Strategy {
 public:
  Mcts(const Space& space, std::uint64_t seed) : space_(space), random_(seed) {}
  std::vector<ParameterVector> propose() override;
  void observe(const ParameterVector& vector, const Cost& cost) override;

 private:
  struct SearchNode {
    std::uint32_t visits = 0;
    double sum = 0, best = 0;  // rewards
    bool is_closed = false;    // every vector below is known
  };
  std::uint32_t choose(const ParameterVector& prefix);

  const Space& space_;
  RandomSource random_;
  std::map<ParameterVector, SearchNode> nodes_;  // by the fixed parameters
  double reference_ = 0;                         // first finite cost; rewards are relative to it
};

// "descent", "grid", "ga" or "mcts". Throws config::ConfigError for other names.
std::unique_ptr<Strategy> make_strategy(const std::string& name, Space& space, std::uint64_t seed,
                                        std::vector<ParameterVector> starts);

}  // namespace attnvp::explore
