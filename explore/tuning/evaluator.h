// Evaluator: cost of a schedule by a timing run of the platform, of the whole job or of a smaller one (low-fidelity
// evaluation, sample.h). Only costs of one evaluator are comparable. A memo table is indexed by schedule and by the
// digest of the command stream, because different schedules may issue the same commands.
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

// `second` breaks ties: energy for cycles, cycles otherwise.
struct Cost {
  double first = std::numeric_limits<double>::infinity();  // cycles, pJ or J s; infinite: the run failed
  double second = std::numeric_limits<double>::infinity();
  bool operator<(const Cost& o) const { return first != o.first ? first < o.first : second < o.second; }
};
Cost cost_of(Objective objective, double cycles, double energy_pj, double clock_hz);

struct Evaluation {
  job::Schedule schedule;
  Cost cost;
  double cycles = 0, energy_pj = 0;
  double demand = 0;  // lower bound of its cycles, from its commands
};

class Evaluator {
 public:
  // `sample` selects low-fidelity evaluation.
  Evaluator(const MachineConfig& machine, const workload::Workload& network, const config::EnergyTable& energy,
            Objective objective, std::optional<Sample> sample);
  ~Evaluator();

  // Evaluates a complete schedule. The cost is infinite if firmware refuses the schedule, it deadlocks, or it needs
  // more cycles than `limit`. A schedule is not run if the demand of its commands (platform/schedule/demand.h) exceeds
  // the limit; a run near its end at the limit is completed.
  const Evaluation& evaluate(const job::Schedule& schedule, double limit = std::numeric_limits<double>::infinity());
  bool knows(const job::Schedule& schedule) const { return known_.count(key(schedule)) != 0; }
  // Evaluates several schedules in parallel processes; results do not depend on `jobs`.
  void evaluate_ahead(const std::vector<job::Schedule>& schedules, double limit, unsigned jobs);

  bool is_partial() const { return sample_.has_value(); }
  double seconds() const { return seconds_; }  // wall-clock time of simulations
  std::uint64_t runs() const { return runs_; }

 private:
  struct Totals {
    double cycles = 0, energy_pj = 0, demand = 0;
  };
  static std::string key(const job::Schedule& schedule);
  // A job that is run: the whole, or a part of it.
  struct SimulatedJob {
    const MachineConfig& machine;
    const workload::Workload& network;
    std::unique_ptr<job::Runner>& runner;
  };
  std::optional<Totals> run(const SimulatedJob& job, const job::Schedule& schedule, double limit);
  std::optional<Totals> simulate(const job::Schedule& schedule, double limit);
  std::optional<Totals> run_or_recall(const SimulatedJob& job, const job::Schedule& schedule, double limit);
  const Evaluation& remember(const job::Schedule& schedule, const std::optional<Totals>& totals);

  const MachineConfig machine_;
  const workload::Workload network_;
  const config::EnergyTable energy_;
  const Objective objective_;
  const std::optional<Sample> sample_;
  std::unique_ptr<job::Runner> runner_, runner_of_small_;  // the second for a machine of its own
  std::map<std::string, Evaluation> known_;
  Evaluation beyond_;                                         // result for schedules above the limit
  std::map<std::uint64_t, std::optional<Totals>> by_stream_;  // digest of the command stream to the run's totals
  double seconds_ = 0;
  std::uint64_t runs_ = 0;
};

}  // namespace attnvp::explore
