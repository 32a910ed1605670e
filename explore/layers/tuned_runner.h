// Machine that completes schedules with the tuner (tuner.h) before it runs them. A memo table keeps the choices.
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
  job::Schedule complete(const workload::Workload& network, const job::Schedule& schedule) {
    const std::string key = network.name() + network.identity() + schedule.text + job::tiling_option(schedule.tiling);
    const auto known = known_.find(key);
    if (known != known_.end()) return known->second;
    return known_[key] = tune({machine_, network, schedule, energy_}, options_);
  }
  job::RunResult run(const workload::Workload& network, const job::Schedule& schedule,
                     const job::Tensors* tensors = nullptr, const job::RunOptions& options = {}) {
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
