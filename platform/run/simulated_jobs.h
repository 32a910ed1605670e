// Timing runs of complete schedules that many users share: one platform for each machine, equal commands run once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "platform/machine/energy.h"
#include "platform/run/job.h"

namespace attnvp::job {

struct RunTotals {
  double cycles = 0, energy_pj = 0, demand = 0;  // demand: lower bound of the cycles, from the commands
};

// Timing runs of a job. They are memoised by the digest of the command stream, because different schedules and
// dataflows may issue the same commands.
class SimulatedJob {
 public:
  SimulatedJob(const MachineConfig& machine, const workload::Workload& network, const config::EnergyTable& energy,
               std::unique_ptr<Runner>& runner)
      : machine_(machine), network_(network), energy_(energy), runner_(runner) {}
  // Empty if firmware refuses the schedule, it deadlocks, or it needs more than `most_cycles`. A schedule is not run
  // if the demand of its commands (platform/schedule/demand.h) exceeds `most_demand`.
  std::optional<RunTotals> run(const Schedule& schedule, double most_demand, double most_cycles);

 private:
  struct KnownRun {
    std::optional<RunTotals> totals;  // empty: it failed, or
    double most_cycles = 0;           // needs more than these
  };
  const MachineConfig machine_;
  const workload::Workload network_;
  const config::EnergyTable energy_;
  std::unique_ptr<Runner>& runner_;
  std::map<std::uint64_t, KnownRun> by_stream_;
};

// Jobs by machine, layer and energy table.
class SimulatedJobs {
 public:
  SimulatedJob& of(const MachineConfig& machine, const workload::Workload& network, const config::EnergyTable& energy);

 private:
  std::map<std::string, std::unique_ptr<Runner>> runners_;
  std::map<std::string, SimulatedJob> jobs_;
};

}  // namespace attnvp::job
