// A model's layer on a machine: its operations (platform/config/operations.h) one after the other, each with all of the
// machine to itself and its operands in DRAM.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "explore/tuning/tuner.h"
#include "models/machine.h"
#include "platform/config/energy.h"
#include "platform/config/network.h"
#include "platform/job/job.h"

namespace attnvp::explore {

struct OperationRun {
  std::string name;
  job::Result result;
};

struct LayerRun {
  config::Network network;
  std::uint64_t tokens = 0;    // that the layer is for
  std::uint32_t layers = 1;    // that are summed: one, or all of a model
  std::uint64_t mac_rate = 1;  // multiply-accumulates of a PE in a cycle, of the layer's type
  std::vector<OperationRun> operations;

  // Of one layer.
  std::uint64_t cycles() const;
  double seconds() const;
  double energy_pj() const;
  std::uint64_t dram_bytes() const;
  std::uint64_t macs() const;
  double tokens_per_second() const;  // of all layers that are summed
  bool golden_passed() const;        // what was checked
};

struct LayerOptions {
  bool full = true;  // tensors, and the golden check
  std::uint64_t seed = 1;
  job::Tiling tiling;    // of attention
  TuningOptions tuning;  // of what is open
  std::function<void(std::size_t done, std::size_t all, const std::string& next)> progress;
};

// `dataflow` is attention's, "auto" allowed; matrix products have the one that makes them. Throws as job::Runner does.
LayerRun run_layer(const MachineConfig& machine, const config::Network& network, const std::string& dataflow,
                   const config::EnergyTable& energy, const LayerOptions& options);

std::string to_text(const LayerRun& run, const std::string& hardware);
// `hash`, `overrides`: of the effective machine, as a run's own document has them.
std::string to_json(const LayerRun& run, const std::string& hardware, const std::string& hash,
                    const std::vector<std::string>& overrides);

}  // namespace attnvp::explore
