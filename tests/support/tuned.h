// Fills open parameters of a schedule by a few evaluations, enough for usable tiles in tests.
#pragma once

#include "explore/layers/tuned_runner.h"
#include "platform/machine/energy.h"

namespace attnvp::runs {

inline explore::TuningOptions few_evaluations(std::uint64_t evaluations = 8) {
  explore::TuningOptions options;
  options.evaluations = evaluations;
  options.sample_steps = 4000;
  options.use_cache = false;
  return options;
}

inline job::Schedule complete(const MachineConfig& machine, const workload::Workload& network,
                              const job::Schedule& schedule) {
  return explore::tune({machine, network, schedule, config::load_energy("fusemax-45nm")}, few_evaluations());
}

// A job::Runner that accepts schedules with open parameters.
class Runner : public explore::TunedRunner {
 public:
  Runner(const MachineConfig& machine, const config::EnergyTable& energy, bool full_data,
         const explore::TuningOptions& options = few_evaluations())
      : explore::TunedRunner(machine, energy, full_data, options) {}
};

}  // namespace attnvp::runs
