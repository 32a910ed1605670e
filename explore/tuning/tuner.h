// Chooses what a schedule leaves open, by evaluations of the platform itself.
//
// A strategy (strategy.h) proposes parameter vectors of the dataflow's space (space.h); the evaluator (evaluator.h)
// runs them, whole or on a smaller job of the same kind; of the cheapest few by smaller jobs, whole runs decide.
// Dataflows and named variants share a budget by successive halving (portfolio.h). The budget is a number of
// evaluations, so that results do not depend on the host. tune() is what everything uses; search() also says how the
// search went.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "explore/tuning/evaluator.h"
#include "explore/tuning/space.h"
#include "explore/tuning/strategy.h"

namespace attnvp::explore {

struct TuningProgress {
  std::uint64_t evaluations = 0, budget = 0;
  Cost best;
};

struct TuningOptions {
  Objective objective = Objective::kCycles;
  std::string strategy = "descent";
  std::uint64_t evaluations = 160;     // at most, of each dataflow; whole runs that decide in the end come on top
  std::uint64_t sample_steps = 20000;  // a job of more steps (count_steps) is evaluated by a smaller one; 0: never
  double enough = 1.02;                // of the lower bound in cycles: a search ends there
  double equal = 1.002;                // of the least cost: of those within, the one of the least energy is chosen
  bool is_patient = false;             // false: a search ends when a quarter of the evaluations brought no gain
  std::uint64_t seed = 1;
  unsigned jobs = 1;      // processes of strategies that propose several vectors at once; 0: one per processor
  bool use_cache = true;  // choices on disk (cache.h)
  std::function<void(const TuningProgress&)> progress;
  std::function<bool()> is_stopped;  // asked between evaluations: the best so far is the result

  // `--tiling auto`.
  void search_longer() { evaluations = 400, enough = equal = 1; }
};

// One evaluation of a search.
struct LogEntry {
  job::Tiling tiling;
  double cost = 0;  // infinite: the run failed
  double best = 0;  // so far
};

struct TuningResult {
  Evaluation best;
  double bound =
      0;  // no schedule of the layer costs less (platform/schedule/bound.h), in the objective's unit; 0: unknown
  bool is_complete = false;  // no vector of the coarse space costs less
  bool is_stopped = false;   // before the budget or the strategy ended
  std::uint64_t points = 0;  // of the coarse space
  double seconds = 0;        // of wall time in simulations
  std::vector<LogEntry> log;
  double gap() const { return bound > 0 ? best.cost.first / bound - 1 : 0; }
};

// One dataflow's search, which can be continued.
class Tuner {
 public:
  // `evaluator` outlives this, and is of the problem's job or of a smaller one. Throws job::RunError or
  // config::ConfigError where nothing fits.
  // `most_rows`, `most_columns`: of a tile.
  Tuner(Problem problem, const TuningOptions& options, std::uint32_t most_rows = UINT32_MAX,
        std::uint32_t most_columns = UINT32_MAX);

  // The starting point of the fewest steps, for choosing the smaller job.
  job::Schedule first() const;
  // At most so many evaluations more, until one costs no more than `enough`. False: there is nothing left to try.
  bool advance(Evaluator& evaluator, std::uint64_t evaluations, double enough);
  // The cheapest, at most so many; of equal ones (options.equal) those of less energy, or fewer cycles, first.
  std::vector<Evaluation> best(std::size_t most) const;
  bool any() const { return !found_.empty(); }
  bool is_complete() const { return strategy_->is_complete(); }
  const std::vector<LogEntry>& log() const { return log_; }
  const Space& space() const { return space_; }
  const Problem& problem() const { return problem_; }

 private:
  const Problem problem_;
  const TuningOptions& options_;
  Space space_;
  std::vector<ParameterVector> starts_;
  std::unique_ptr<Strategy> strategy_;
  std::vector<ParameterVector> proposed_;  // not evaluated yet, the next one last
  std::vector<Evaluation> found_;          // those that ran
  std::vector<LogEntry> log_;
  double last_gain_ = Cost().first;  // the least cost when it last fell by more than options.equal
  std::uint64_t idle_ = 0;           // evaluations since then
};

// In that order: of what costs at most `equal` times the least, less energy, or fewer cycles, comes first.
void sort_by_cost(std::vector<Evaluation>& all, double equal);

// The whole search of one dataflow, all evaluations of the whole job. Throws as Tuner does; config::ConfigError for an
// unknown strategy.
TuningResult search(const Problem& problem, const TuningOptions& options);

// The schedule with what it leaves open chosen. A schedule that leaves nothing open is returned as it is. Throws as
// Tuner does.
job::Schedule tune(const MachineConfig& machine, const config::Network& network, const job::Schedule& schedule,
                   const config::EnergyTable& energy, const TuningOptions& options = {});

// A schedule that fits, by dry runs alone: where a search would begin. Throws as Tuner does.
job::Schedule first_fit(const MachineConfig& machine, const config::Network& network, const job::Schedule& schedule);

}  // namespace attnvp::explore
