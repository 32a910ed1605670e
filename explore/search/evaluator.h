// The cost model behind a search: the platform in timing mode, one machine for all runs, with memory, budget and log.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <unordered_map>
#include <vector>

#include "explore/search/space.h"

namespace attnvp::explore {

enum class Objective : std::uint8_t { kCycles, kEnergy, kEdp };  // EDP: energy times delay, joule seconds

// What a run costs; the second number decides between equals (energy for cycles, cycles otherwise).
struct Cost {
  double first = std::numeric_limits<double>::infinity();  // cycles, pJ or J s
  double second = std::numeric_limits<double>::infinity();
  bool operator<(const Cost& o) const { return first != o.first ? first < o.first : second < o.second; }
};
Cost cost_of(Objective objective, double cycles, double energy_pj, double clock_hz);

struct Evaluation {  // one line of the convergence log
  job::Tiling tiling;
  double cost = 0;  // infinite: refused by firmware (L1 too small)
  double best = 0;  // so far
};

// Must live under sc_main, one at a time, with no other job::Runner beside it.
class Evaluator {
 public:
  struct Options {
    Objective objective = Objective::kCycles;
    std::uint64_t budget = 0;  // simulations
    bool prune = true;         // by the bound
    unsigned jobs = 1;         // processes that simulate what is known to be asked for next; 0: one per processor
    std::function<void(const Evaluator&)> progress;  // after every simulation
  };
  Evaluator(const Problem& problem, const Space& space, Options options);
  ~Evaluator();

  // The point's cost: simulated, remembered, or, where its bound shows that it cannot be better than the best, the
  // bound.
  double cost(std::uint64_t number);
  // These will be asked for, in this order: simulated side by side, so that cost() finds them done. No result depends
  // on it.
  void expect(const std::vector<std::uint64_t>& numbers);
  // Simulates the tiling that a run chooses by itself, which need not be in the space; counts against the budget.
  double cost_of_default();

  // Least cost of a point by its bound (mapping/bound.h); infinite for what cannot fit, which is never simulated.
  Cost bound(std::uint64_t number) const { return bounds_[number]; }
  double space_bound() const { return space_bound_; }
  double default_bound() const { return default_bound_; }  // of the tiling that a run chooses by itself
  // Its bound says it cannot be better than what is known. False without pruning.
  bool hopeless(std::uint64_t number) const;
  bool prunes() const { return options_.prune; }
  bool known(std::uint64_t number) const { return costs_.count(number) != 0; }
  bool exhausted() const { return log_.size() >= options_.budget; }

  const Problem& problem() const { return problem_; }
  const Space& space() const { return space_; }
  const std::vector<Evaluation>& log() const { return log_; }
  const Cost& best() const { return best_; }
  bool found() const { return best_.first < std::numeric_limits<double>::infinity(); }
  // Of the best run: the tiling as used, with its cycles and energy.
  const job::Tiling& best_tiling() const { return best_tiling_; }
  std::uint64_t best_cycles() const { return best_cycles_; }
  double best_energy_pj() const { return best_energy_pj_; }
  std::uint64_t refused() const { return refused_; }
  double seconds() const;  // spent in simulations

 private:
  // Of one simulation.
  struct Run {
    bool refused = true;
    job::Tiling used;  // complete
    std::uint64_t cycles = 0;
    double energy_pj = 0;
  };
  Run run(const job::Tiling& tiling);
  Cost count(const Run& run);  // among the results
  Cost simulate(const job::Tiling& tiling) { return count(run(tiling)); }
  Cost bound_of(const job::Tiling& tiling) const;

  const Problem& problem_;
  const Space& space_;
  Options options_;
  std::vector<Cost> bounds_;
  double space_bound_ = std::numeric_limits<double>::infinity();
  double default_bound_ = std::numeric_limits<double>::infinity();

  std::unique_ptr<job::Runner> runner_;
  std::unordered_map<std::uint64_t, double> costs_;
  std::unordered_map<std::uint64_t, Run> expected_;
  std::vector<Evaluation> log_;
  Cost best_;
  job::Tiling best_tiling_;
  std::uint64_t best_cycles_ = 0;
  double best_energy_pj_ = 0;
  std::uint64_t refused_ = 0;
  double seconds_ = 0;
};

}  // namespace attnvp::explore
