// What a schedule leaves open, chosen by a few evaluations: enough for a test that needs some sensible tiles.
#pragma once

#include "explore/tuning/tuned_runner.h"
#include "platform/config/energy.h"

namespace attnvp::runs {

inline explore::TuningOptions few_evaluations(std::uint64_t evaluations = 8) {
  explore::TuningOptions options;
  options.evaluations = evaluations;
  options.sample_steps = 4000;
  options.use_cache = false;
  return options;
}

inline job::Schedule complete(const MachineConfig& machine, const config::Network& network,
                              const job::Schedule& schedule) {
  return explore::tune(machine, network, schedule, config::load_energy("fusemax-45nm"), few_evaluations());
}

// A job::Runner that takes schedules with open parameters.
class Runner : public explore::TunedRunner {
 public:
  Runner(const MachineConfig& machine, const config::EnergyTable& energy, bool full_data,
         const explore::TuningOptions& options = few_evaluations())
      : explore::TunedRunner(machine, energy, full_data, options) {}
};

}  // namespace attnvp::runs
