// Choice between fused operations and the operations apart, by timing runs (fuse=auto).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "explore/layers/layers.h"

namespace attnvp::explore {

class FusionTimer {
 public:
  // `dataflow`: of attention.
  FusionTimer(const MachineConfig& machine, std::string dataflow, const config::EnergyTable& energy,
              const LayerOptions& options)
      : machine_(machine), dataflow_(std::move(dataflow)), energy_(energy), options_(options) {}

  // Fuses operations of all groups where this takes at most the cycles of the operations apart; pairs of products as
  // fuse_held() does.
  void choose(std::vector<workload::LayerGroup>& groups);
  // Fuses pairs of products if the machine holds all rows between them at once (fuse=on).
  void fuse_held(std::vector<workload::LayerGroup>& groups) const;
  // Schedule of an operation that was timed, by its identity; nullptr: none.
  const job::Schedule* schedule_of(const std::string& identity) const;

 private:
  struct Timed {
    job::Schedule schedule;
    std::uint64_t cycles = 0;
  };
  // None if the machine has no space for any schedule.
  const std::optional<Timed>& timed(const workload::Workload& operation);

  const MachineConfig& machine_;
  std::string dataflow_;
  const config::EnergyTable& energy_;
  const LayerOptions& options_;
  std::optional<job::Runner> runner_;
  std::map<std::string, std::optional<Timed>> timed_;  // by identity
};

}  // namespace attnvp::explore
