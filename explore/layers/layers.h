// Layer of a model on a machine: its operations (platform/machine/operations.h) run one after the other. Each has the
// whole machine and its operands in DRAM.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "explore/tuning/tuner.h"
#include "models/machine.h"
#include "platform/machine/energy.h"
#include "platform/run/job.h"
#include "platform/workload/workload.h"

namespace attnvp::explore {

struct OperationRun {
  std::string name;
  job::RunResult result;
};

struct LayerRun {
  workload::Workload network;
  std::uint64_t tokens = 0;    // tokens that the layer processes
  std::uint32_t layers = 1;    // layers that are summed: one, or all of a model
  std::uint64_t mac_rate = 1;  // multiply-accumulates per PE and cycle, for the layer's element type
  std::vector<OperationRun> operations;

  // Per layer.
  std::uint64_t cycles() const;
  double seconds() const;
  double energy_pj() const;
  std::uint64_t dram_bytes() const;
  std::uint64_t macs() const;
  double tokens_per_second() const;  // over all summed layers
  bool golden_passed() const;        // of the operations with a golden check
};

struct LayerOptions {
  bool full = true;  // tensors and golden check
  std::uint64_t seed = 1;
  job::Tiling tiling;    // for attention
  TuningOptions tuning;  // for open parameters
  std::function<void(std::size_t done, std::size_t all, const std::string& next)> progress;
};

// `dataflow` applies to attention ("auto" is allowed); matrix products use their own dataflow. Throws as job::Runner
// does.
LayerRun run_layer(const MachineConfig& machine, const workload::Workload& network, const std::string& dataflow,
                   const config::EnergyTable& energy, const LayerOptions& options);

std::string to_text(const LayerRun& run, const std::string& hardware);
// `hash`, `overrides`: of the effective machine, as in the JSON report of a single run.
std::string to_json(const LayerRun& run, const std::string& hardware, const std::string& hash,
                    const std::vector<std::string>& overrides);

}  // namespace attnvp::explore
