// Evaluator: cost of a schedule by a timing run of the platform, of the whole job or of a smaller one (low-fidelity
// evaluation, sample.h). Only costs of one evaluator are comparable. Runs are memoised by the digest of the command
// stream, because different schedules may issue the same commands.
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

class Evaluator {
 public:
  // `sample` selects low-fidelity evaluation.
  Evaluator(const MachineConfig& machine, const workload::Workload& network, const config::EnergyTable& energy,
            Objective objective, const std::optional<Sample>& sample);
  ~Evaluator();

  // Evaluates a complete schedule. The cost is infinite if firmware refuses the schedule, it deadlocks, or it needs
  // more cycles than `limit`. A schedule is not run if the demand of its commands (platform/schedule/demand.h) exceeds
  // the limit; a run near its end at the limit is completed.
  Evaluation evaluate(const job::Schedule& schedule, double limit = kNoLimit);
  // Evaluates several schedules in parallel processes; results do not depend on `jobs`.
  void evaluate_ahead(const std::vector<job::Schedule>& schedules, double limit, unsigned jobs);

  bool is_partial() const { return sample_.has_value(); }
  double seconds() const { return seconds_; }  // wall-clock time of simulations

 private:
  struct Totals {
    double cycles = 0, energy_pj = 0, demand = 0;  // demand: lower bound of the cycles, from the commands
  };
  // A job that is run: the whole, or a part of it.
  struct SimulatedJob {
    const MachineConfig machine;
    const workload::Workload network;
    std::size_t runner;                                        // index in runners_
    std::map<std::uint64_t, std::optional<Totals>> by_stream;  // digest of the command stream to the run's totals
  };
  std::optional<Totals> run(SimulatedJob& job, const job::Schedule& schedule, double limit);
  std::optional<Totals> simulate(const job::Schedule& schedule, double limit);

  const config::EnergyTable energy_;
  const Objective objective_;
  const double clock_hz_;
  const std::optional<Sample> sample_;
  SimulatedJob whole_, small_;                          // the whole, or the larger job of a sample; its smaller one
  std::unique_ptr<job::Runner> runners_[2];             // the second for a smaller job with a machine of its own
  std::map<std::string, std::optional<Totals>> ahead_;  // by schedule
  double seconds_ = 0;
};

}  // namespace attnvp::explore
