// A machine that runs schedules with what they leave open chosen (tuner.h). Choices are remembered for its life.
#pragma once

#include <map>
#include <string>

#include "explore/tuning/tuner.h"

namespace attnvp::explore {

class TunedRunner {
 public:
  TunedRunner(const MachineConfig& machine, const config::EnergyTable& energy, bool full_data,
              TuningOptions options = {})
      : machine_(machine), energy_(energy), options_(std::move(options)), runner_(machine, energy, full_data) {}

  // Throws as tune() and job::Runner::run() do.
  job::Schedule complete(const config::Network& network, const job::Schedule& schedule);
  job::Result run(const config::Network& network, const job::Schedule& schedule, const job::Tensors* tensors = nullptr,
                  const job::RunOptions& options = {}) {
    return runner_.run(network, complete(network, schedule), tensors, options);
  }
  const MachineConfig& machine() const { return machine_; }
  Platform& platform() { return runner_.platform(); }

 private:
  const MachineConfig machine_;
  const config::EnergyTable energy_;
  const TuningOptions options_;
  job::Runner runner_;
  std::map<std::string, job::Schedule> known_;
};

}  // namespace attnvp::explore
