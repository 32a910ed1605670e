// Layers of a model on a machine: their operations (platform/workload/layers.h) run one after the other. Each has the
// whole machine and its operands in DRAM. Equal layers are simulated once, and in timing mode so are equal operations.
// With data, operations run on each other's results (platform/run/chain.h). Their searches and the latency tables of
// simulators of serving use the same operations.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
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

// Choice between fused operations and the operations apart, by timing runs (fuse=auto).

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

// Search of tile sizes for all operations of a layer, graph or model, one after the other.

struct OperationSearch {
  std::string group, name;
  job::Schedule schedule;   // dataflow
  std::uint64_t times = 1;  // of the operation in all layers
  TuningResult result;      // of one time
};

struct LayerSearch {
  std::vector<OperationSearch> operations;
  // Of all times together. An energy-delay product is that of the sums of energy and of time.
  double best = 0, bound = 0;
  double gap() const { return bound > 0 ? best / bound - 1 : 0; }
};

struct LayerSearchOptions {
  TuningOptions tuning;  // for each operation; `is_stopped` and `progress` are set by the search
  double seconds = 0;    // wall time of all operations, in equal parts; 0: no limit
  std::function<bool()> is_stopped;
  std::function<void(const std::string& operation, const TuningProgress&)> progress;
};

// Equal operations are searched once. After a stop each operation has at least one tiling that fits. `dataflow` is that
// of attention. Throws as search does.
LayerSearch search_layers(const MachineConfig& machine, const workload::Workload& network, const std::string& dataflow,
                          const config::EnergyTable& energy, const LayerSearchOptions& options);

// Latency tables of a model on a machine, as simulators of serving read them: LLMServingSim (profile bundles) and Vidur
// (compute and attention profiles). Every distinct operation is simulated once.

// Greatest values; each axis has the powers of two up to its greatest.
struct ServingGrid {
  std::uint32_t tokens = 2048;  // of a step, and of a chunk of a prompt
  std::uint32_t cache = 8192;   // tokens in the cache of a sequence
  std::uint32_t batch = 64;     // sequences in decode
};

struct ServingTable {
  std::string path;  // relative: "vidur/mlp.csv"
  std::string text;
};

struct ServingOptions {
  std::string dataflow;  // of attention
  TuningOptions tuning;
  unsigned jobs = 0;  // processes; 0: one for each host processor
  std::function<void(std::size_t done, std::size_t all)> progress;
};

// `network`: a text of --net without lengths, with the model's width. Throws config::ConfigError or job::RunError.
std::vector<ServingTable> serving_tables(const MachineConfig& machine, const std::string& network,
                                         const config::EnergyTable& energy, const ServingGrid& grid,
                                         const ServingOptions& options);

}  // namespace attnvp::explore
