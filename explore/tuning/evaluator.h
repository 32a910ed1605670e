// Evaluator: cost of a schedule by a timing run of the platform, of the whole job or of a smaller one (low-fidelity
// evaluation). Only costs of one evaluator are comparable.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "explore/tuning/space.h"
#include "platform/run/simulated_jobs.h"

namespace attnvp::explore {

enum class Objective : std::uint8_t { kCycles, kEnergy, kEdp };  // EDP: energy times delay, J s
const char* name_of(Objective objective);                        // "cycles", "energy", "edp"
const char* unit_of(Objective objective);                        // "cycles", "pJ", "J s"

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

// `second` breaks ties: energy for cycles, cycles otherwise.
struct Cost {
  double first = kNoLimit;  // cycles, pJ or J s; infinite: the run failed
  double second = kNoLimit;
  friend auto operator<=>(const Cost&, const Cost&) = default;
};
Cost cost_of(Objective objective, double cycles, double energy_pj, double clock_hz);

struct Evaluation {
  job::Schedule schedule;  // complete
  Cost cost;
  double cycles = 0, energy_pj = 0;  // 0: the run failed
  bool is_whole = false;             // false: extrapolated from a smaller job
};

// Low-fidelity evaluation by a smaller job of the same kind. It has fewer clusters with their share of the DRAM
// bandwidth, then fewer heads, then fewer query rows (products: also fewer columns, or less depth behind a cache;
// decoding: fewer keys). Two sizes are run, and the time of the whole job is extrapolated:
//   T = T(large) + (W - W(large)) (T(large) - T(small)) / (W(large) - W(small)),  W: work, in units of the small job.
// The result is at least 95% of T(large) W / W(large) (with less depth 50%), because the part that is not repeated is
// assumed to be small.
struct Sample {
  Problem small, large;
  double work_small = 1, work_large = 2, work_all = 1;  // work_small = 0: only the large one is run
  double repeated = 0.95;  // least share of the larger sample's time that repeats with the work
  double extrapolated(double of_small, double of_large) const {
    return std::max(of_large + (work_all - work_large) * (of_large - of_small) / (work_large - work_small),
                    repeated * of_large * work_all / work_large);
  }
  // Cycles of the larger sample above which the estimate for the whole job exceeds `limit`.
  double most_of_large(double limit) const { return limit * work_large / work_all / repeated; }
};

// Events of a job: commands, and bursts of copies. Counting stops at `most`. 0: tiles exceed the layer.
std::uint64_t steps_of(const Problem& problem, const job::Schedule& schedule, std::uint64_t most);

// Sample of about `steps` events. Empty if the job has no more with the schedule, or if its kind has no smaller job.
std::optional<Sample> sample_of(const Problem& problem, const job::Schedule& schedule, std::uint64_t steps);

class Evaluator {
 public:
  // `sample` selects low-fidelity evaluation. `jobs`: runs that it shares with other evaluators; nullptr: none.
  Evaluator(const Problem& problem, Objective objective, const std::optional<Sample>& sample = {},
            std::shared_ptr<job::SimulatedJobs> jobs = nullptr);

  // Evaluates a complete schedule. The cost is infinite if firmware refuses the schedule, it deadlocks, or it needs
  // more cycles than `limit`.
  Evaluation evaluate(const job::Schedule& schedule, double limit = kNoLimit);
  // Evaluates several schedules in parallel processes; results do not depend on `jobs`.
  void evaluate_ahead(const std::vector<job::Schedule>& schedules, double limit, unsigned jobs);

  bool is_partial() const { return sample_.has_value(); }
  double seconds() const { return seconds_; }  // wall-clock time of simulations

 private:
  std::optional<job::RunTotals> simulate(const job::Schedule& schedule, double limit);

  const Objective objective_;
  const double clock_hz_;
  const std::optional<Sample> sample_;
  const std::shared_ptr<job::SimulatedJobs> jobs_;
  job::SimulatedJob &whole_, &small_;  // the whole, or the larger job of a sample; its smaller one
  std::map<std::string, std::optional<job::RunTotals>> ahead_;  // by schedule
  double seconds_ = 0;
};

}  // namespace attnvp::explore
