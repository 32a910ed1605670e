// Layers of a model on a machine: their operations (platform/workload/layers.h) run one after the other. Each has the
// whole machine and its operands in DRAM. Equal layers are simulated once, and in timing mode so are equal operations.
// With data, operations run on each other's results (platform/run/chain.h).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "explore/tuning/tuner.h"
#include "models/machine.h"
#include "platform/machine/energy.h"
#include "platform/run/chain.h"
#include "platform/run/job.h"
#include "platform/workload/layers.h"

namespace attnvp::explore {

struct OperationRun {
  std::string name;
  job::RunResult result;    // of one time; the golden check is of all times
  std::uint32_t count = 1;  // times in the layer
};

struct LayerTotals {
  std::uint64_t cycles = 0, macs = 0, dram_bytes = 0;
  double seconds = 0, energy_pj = 0;
  LayerTotals& add(const LayerTotals& other, std::uint32_t times);
};
LayerTotals totals_of(const OperationRun& run);  // of all its times

struct GroupRun {
  std::string name;
  std::uint32_t count = 1;  // layers
  std::vector<OperationRun> operations;
  std::vector<job::ChainResult> chain{};  // of the operations together; empty in timing mode
  LayerTotals totals() const;             // of one layer
};

// DRAM capacity in bytes: weights and caches of all layers, which stay for the whole run, and the largest need of an
// operation.
struct DramNeed {
  std::uint64_t weights = 0, cache = 0, activations = 0;
  std::uint64_t total() const { return weights + cache + activations; }
};

struct LayerRun {
  workload::Workload network;
  std::uint64_t tokens = 0;    // tokens that a layer processes
  std::uint32_t layers = 1;    // layers that are summed: one, or all of a model
  std::uint64_t mac_rate = 1;  // multiply-accumulates per PE and cycle, for the layer's element type
  std::vector<GroupRun> groups;
  std::size_t first_block = 0;  // index in `groups`
  DramNeed need;

  const GroupRun& layer() const { return groups[first_block]; }  // the block that stands for the layer
  bool is_model() const { return network.scope == workload::Scope::kModel; }
  OperationRun& costliest();         // that takes the most cycles of all layers
  LayerTotals totals() const;        // of all layers, embedding and last projection
  double tokens_per_second() const;  // of all of them
  bool golden_checked() const;
  bool golden_passed() const;  // of the operations with a golden check, and of the chains
};

struct LayerOptions {
  bool full = true;  // tensors and golden check
  std::uint64_t seed = 1;
  job::Tiling tiling;    // for attention
  TuningOptions tuning;  // for open parameters
  unsigned jobs = 1;     // processes that choose schedules; 0: one for each host processor
  std::function<void(std::size_t done, std::size_t all, const std::string& next)> progress;
};

// A complete schedule: `dataflow` and `tiling` are of attention, other operations have a dataflow of their own.
job::Schedule schedule_of(const MachineConfig& machine, const workload::Workload& network, const std::string& dataflow,
                          const config::EnergyTable& energy, const job::Tiling& tiling, const TuningOptions& options);

// `dataflow` applies to attention ("auto" is allowed); matrix products use their own dataflow. Throws as job::Runner
// does.
LayerRun run_layer(const MachineConfig& machine, const workload::Workload& network, const std::string& dataflow,
                   const config::EnergyTable& energy, const LayerOptions& options);

class Capacity {
 public:
  Capacity(const std::vector<workload::LayerGroup>& groups, const workload::Workload& network);
  // Adds `bytes`, the DRAM need of an operation alone.
  void add(const workload::LayerOperation& operation, std::uint64_t bytes);
  // Throws config::ConfigError if the machine's DRAM is smaller.
  void require(const MachineConfig& machine) const;
  const DramNeed& need() const { return need_; }

 private:
  const workload::Workload& network_;
  DramNeed need_;
};

// The whole run as one result: sums of counts, cycles and energies, means over time, and the attention's schedule.
job::RunResult combined(const LayerRun& run);

std::string to_text(const LayerRun& run, const std::string& hardware, bool has_energy_range);
// `hash`, `overrides`: of the effective machine, as in the JSON report of a single run.
std::string to_json(const LayerRun& run, const std::string& hardware, const std::string& hash,
                    const std::vector<std::string>& overrides, bool has_energy_range = false);

}  // namespace attnvp::explore
