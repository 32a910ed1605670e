// Evaluator: cost of a schedule by a timing run of the platform, of the whole job or of a smaller one (low-fidelity
// evaluation, sample.h). Only costs of one evaluator are comparable. Evaluators may share their runs (SimulatedJobs).
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "explore/tuning/sample.h"
#include "platform/machine/energy.h"
#include "platform/run/job.h"

namespace attnvp::explore {

enum class Objective : std::uint8_t { kCycles, kEnergy, kEdp };  // EDP: energy times delay, J s
const char* name_of(Objective objective);                        // "cycles", "energy", "edp"
const char* unit_of(Objective objective);                        // "cycles", "pJ", "J s"

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

// `second` breaks ties: energy for cycles, cycles otherwise.
struct Cost {
  double first = kNoLimit;  // cycles, pJ or J s; infinite: the run failed
  double second = kNoLimit;
  bool operator<(const Cost& o) const { return first != o.first ? first < o.first : second < o.second; }
};
Cost cost_of(Objective objective, double cycles, double energy_pj, double clock_hz);

struct Evaluation {
  job::Schedule schedule;
  Cost cost;
  double cycles = 0, energy_pj = 0;
};

struct RunTotals {
  double cycles = 0, energy_pj = 0, demand = 0;  // demand: lower bound of the cycles, from the commands
};

// Timing runs of a job. They are memoised by the digest of the command stream, because different schedules and
// dataflows may issue the same commands.
class SimulatedJob {
 public:
  SimulatedJob(const MachineConfig& machine, const workload::Workload& network, const config::EnergyTable& energy,
               std::unique_ptr<job::Runner>& runner)
      : machine_(machine), network_(network), energy_(energy), runner_(runner) {}
  // Empty if firmware refuses the schedule, it deadlocks, or it needs more cycles than `limit`. A schedule is not run
  // if the demand of its commands (platform/schedule/demand.h) exceeds the limit.
  std::optional<RunTotals> run(const job::Schedule& schedule, double limit);

 private:
  struct KnownRun {
    std::optional<RunTotals> totals;  // empty: it failed, or
    double limit = 0;                 // needs more cycles than this
  };
  const MachineConfig machine_;
  const workload::Workload network_;
  const config::EnergyTable energy_;
  std::unique_ptr<job::Runner>& runner_;
  std::map<std::uint64_t, KnownRun> by_stream_;
};

// Jobs that are run, with one platform for each machine. Evaluators that share them run equal commands once.
class SimulatedJobs {
 public:
  SimulatedJob& of(const MachineConfig& machine, const workload::Workload& network, const config::EnergyTable& energy);

 private:
  std::map<std::string, std::unique_ptr<job::Runner>> runners_;
  std::map<std::string, SimulatedJob> jobs_;
};

class Evaluator {
 public:
  // `sample` selects low-fidelity evaluation. `jobs`: those of other evaluators; nullptr: none.
  Evaluator(const MachineConfig& machine, const workload::Workload& network, const config::EnergyTable& energy,
            Objective objective, const std::optional<Sample>& sample, std::shared_ptr<SimulatedJobs> jobs = nullptr);

  // Evaluates a complete schedule. The cost is infinite if firmware refuses the schedule, it deadlocks, or it needs
  // more cycles than `limit`.
  Evaluation evaluate(const job::Schedule& schedule, double limit = kNoLimit);
  // Evaluates several schedules in parallel processes; results do not depend on `jobs`.
  void evaluate_ahead(const std::vector<job::Schedule>& schedules, double limit, unsigned jobs);

  bool is_partial() const { return sample_.has_value(); }
  double seconds() const { return seconds_; }  // wall-clock time of simulations

 private:
  std::optional<RunTotals> simulate(const job::Schedule& schedule, double limit);

  const Objective objective_;
  const double clock_hz_;
  const std::optional<Sample> sample_;
  const std::shared_ptr<SimulatedJobs> jobs_;
  SimulatedJob &whole_, &small_;                           // the whole, or the larger job of a sample; its smaller one
  std::map<std::string, std::optional<RunTotals>> ahead_;  // by schedule
  double seconds_ = 0;
};

}  // namespace attnvp::explore
