// Tuner: chooses the open parameters of a schedule by simulation.
//
// A strategy (strategy.h) proposes parameter vectors of the dataflow's space (space.h). The evaluator (evaluator.h)
// runs them, whole or as a smaller job; whole runs decide among the best few of smaller jobs. Dataflows and named
// variants share a search budget by successive halving (Portfolio). The budget counts evaluations, so that results do
// not depend on the host.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "explore/tuning/evaluator.h"
#include "explore/tuning/space.h"
#include "explore/tuning/strategy.h"

namespace attnvp::explore {

struct TuningProgress {
  std::uint64_t evaluations = 0, budget = 0;
  double least_cost = kNoLimit;  // infinite: no run has ended
};

struct TuningOptions {
  Objective objective = Objective::kCycles;
  std::string strategy = "descent";
  std::uint64_t evaluations = 160;     // search budget per dataflow; final full-fidelity runs are not counted
  std::uint64_t sample_steps = 20000;  // jobs with more events (count_steps) use low-fidelity evaluation; 0: never
  double enough = 1.02;                // a search ends at a cost within this factor of the lower bound (cycles)
  double equal = 1.002;                // costs within this factor of the least are equal, and the least energy decides
  bool is_patient = false;             // false: a search ends after a quarter of the budget without gain
  std::uint64_t seed = 1;
  unsigned jobs = 1;      // processes of strategies that propose several vectors; 0: one per processor
  bool use_cache = true;  // use the persistent cache (cache.h)
  std::shared_ptr<job::SimulatedJobs> simulated;  // runs that several choices share; nullptr: none
  std::function<void(const TuningProgress&)> progress;
  std::function<bool()> is_stopped;  // polled between evaluations; the best result so far is returned, not stored
  bool must_stop() const { return is_stopped && is_stopped(); }

  // `--tiling auto`.
  void search_longer() { evaluations = 400, enough = equal = 1; }
};

struct TuningResult {
  Evaluation best;
  // Lower bound for any schedule of the layer (platform/schedule/demand.h), in the objective's unit; 0: unknown.
  double bound = 0;
  bool is_complete = false;     // no vector of the coarse space costs less
  bool is_stopped = false;      // stopped before the budget or the strategy ended
  std::uint64_t points = 0;     // size of the coarse space
  double seconds = 0;           // wall-clock time of simulations
  std::vector<Evaluation> log;  // in order, also of failed runs
  double gap() const { return bound > 0 ? best.cost.first / bound - 1 : 0; }
};

// The cheapest of the evaluations whose run succeeded, at most `most`. Costs within the factor `equal` of the least are
// ordered by energy, or by cycles.
std::vector<Evaluation> ranked(std::vector<Evaluation> all, double equal, std::size_t most);

// Resumable search of one dataflow.
class Tuner {
 public:
  // Tiles of a product do not exceed `smaller`. Throws job::RunError or config::ConfigError if nothing fits.
  Tuner(Problem problem, const TuningOptions& options, const workload::Gemm* smaller = nullptr);

  // The starting point with the fewest events, for choosing the smaller job.
  job::Schedule first() const { return space_.schedule(starts_.front()); }
  double least_cycles() const;  // lower bound for any schedule of the layer (platform/schedule/demand.h)
  // Runs up to `evaluations` evaluations (`evaluator` is of this job or of a smaller one), until one costs at most
  // `enough`.
  void advance(Evaluator& evaluator, std::uint64_t evaluations, double enough);
  // The cheapest evaluations, at most `most`.
  std::vector<Evaluation> best(std::size_t most) const { return ranked(log_, options_.equal, most); }
  double least_cost() const { return least_cost_; }
  bool has_ended() const { return has_ended_; }  // the search has no candidates left, or no gain any more
  bool is_complete() const { return has_ended_ && strategy_->is_complete(); }
  const std::vector<Evaluation>& log() const { return log_; }
  const Space& space() const { return space_; }
  const Problem& problem() const { return problem_; }

 private:
  const Problem problem_;
  const TuningOptions& options_;
  Space space_;
  std::vector<ParameterVector> starts_;
  std::unique_ptr<Strategy> strategy_;
  std::vector<ParameterVector> proposed_;  // not evaluated yet, the next one last
  std::map<ParameterVector, Cost> known_;  // of all proposals; infinite for illegal ones
  std::uint64_t repeated_ = 0;             // proposals in turn that were known
  std::vector<Evaluation> log_;
  double least_cost_ = kNoLimit;
  double last_gain_ = kNoLimit;  // least cost at the last gain of more than options.equal
  std::uint64_t idle_ = 0;       // evaluations since then
  bool has_ended_ = false;
};

// Complete search of one dataflow with full-fidelity evaluations. Throws as Tuner does, and config::ConfigError for an
// unknown strategy.
TuningResult search(const Problem& problem, const TuningOptions& options);

// Portfolio: several dataflows, or named variants of one, share a search budget by successive halving. All get a few
// evaluations, the better half gets twice that number, and so on. Full-fidelity runs decide among the last few.
struct Portfolio {
  std::vector<Evaluation> candidates;  // the best of each dataflow, the chosen one first; it failed if none runs
  double least_cycles = 0;             // lower bound for any schedule of the layer (Tuner::least_cycles)
  std::string untried;                 // dataflows not evaluated, because the chosen one is near the bound
  const Evaluation& best() const { return candidates.front(); }
};

// Variants that are searched separately: one for each named value of a parameter.
std::vector<job::Schedule> variants_of(const job::Schedule& schedule);

// Chooses one of the schedules, with its open parameters; the problem's own one is not used. Throws
// config::ConfigError or job::RunError if no schedule supports the job.
Portfolio choose_from(const std::vector<job::Schedule>& schedules, const Problem& problem,
                      const TuningOptions& options);

// Implements `--dataflow auto`: considers all dataflows for the network's operation. The tiling of the problem's
// schedule applies to all.
Portfolio pick_dataflow(const Problem& problem, const TuningOptions& options = {});

// Returns the schedule with its open parameters chosen; a complete schedule is returned unchanged. Throws as Tuner
// does.
job::Schedule tune(const Problem& problem, const TuningOptions& options = {});

// A schedule that fits, found by dry runs only: the first starting point of a search. Throws as Tuner does.
job::Schedule first_fit(const Problem& problem);

}  // namespace attnvp::explore
