// Job runner: runs a layer with a dataflow on a machine and returns cycles, counters, energy and the golden check.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "firmware/hal/job.h"
#include "models/machine.h"
#include "platform/machine/energy.h"
#include "platform/machine/error.h"
#include "platform/machine/schema.h"
#include "platform/run/golden/golden.h"
#include "platform/run/golden/tensors.h"
#include "platform/run/platform.h"
#include "platform/run/results/accounting.h"
#include "platform/run/schedule.h"
#include "platform/workload/workload.h"

namespace attnvp {
class Platform;
}
namespace attnvp::trace {
class Session;
}
namespace attnvp::firmware_watch {
class Watch;
}

namespace attnvp::job {

// The run ended by a fault or a deadlock; the trace up to that time is valid.
struct StoppedError : RunError {
  using RunError::RunError;
};

struct Utilization {
  double mac = 0, vec = 0, dma = 0, dram = 0;  // busy / total, mean over instances
};

// Peak rates of all instances together, for rooflines.
struct Peak {
  std::uint64_t macs_per_cycle = 0, vec_lanes = 0, l1_bytes = 0;
  double dram_bytes_per_cycle = 0, l1_bytes_per_cycle = 0;
};

// A core that computes tiles of contexts, from any head.
struct Worker {
  std::uint32_t cluster = 0, core = 0;
  std::uint32_t tiles = 0;  // computed
};

// Area of the machine by its technology model, without DRAM.
struct Floorplan {
  std::vector<std::pair<std::string, double>> parts;  // area of all modules of a name, in mm2
  double spare_mm2 = 0;                               // between modules
  double low_mm2 = 0, high_mm2 = 0;                   // range of the total
  double total_mm2() const;
};

struct RunResult {
  workload::Workload network;
  Schedule schedule;  // tiling as used
  std::uint64_t cycles = 0;
  double frequency_hz = 0;
  bool golden_checked = false;
  GoldenResult golden;
  Utilization utilization;
  Peak peak;
  // Statistics reported by firmware over all clusters, by the dataflow's names.
  std::vector<std::pair<std::string, std::uint64_t>> statistics;
  std::vector<Worker> workers;  // of dataflows that distribute tiles of contexts to workers
  std::vector<CounterValue> counters;
  std::vector<UnitTime> unit_times;
  Bound bound;
  Floorplan floorplan;
  double tdp_watts = 0;             // power limit of the machine; 0: none
  std::vector<arith::Half> output;  // [batch, heads, seq_q, emb], BF16 as FP16; empty in timing mode
  double wall_seconds = 0;
  std::uint64_t events = 0;          // events of the event queue and delta cycles
  std::uint64_t skipped_cycles = 0;  // of periods that were not simulated (SteadyState)

  double seconds() const { return static_cast<double>(cycles) / frequency_hz; }
  // Sum over modules whose last name part is `module`: "dram", "mac".
  std::uint64_t sum(std::string_view module, std::string_view counter) const;
  std::uint64_t max(std::string_view module, std::string_view counter) const;
  std::uint64_t statistic(std::string_view name) const;  // 0 for an unknown name
  // Parts of the machine in module-tree order: memories (which count words read and written), and parts of the energy
  // table.
  std::vector<std::string> memories() const;
  std::vector<std::string> energy_parts() const;
  bool has(std::string_view module, std::string_view counter) const;
  double energy_pj(std::string_view part) const;
  double total_energy_pj() const;
  // Mean over the run.
  double power_w(std::string_view part) const { return energy_pj(part) * 1e-12 / seconds(); }
  double total_power_w() const { return total_energy_pj() * 1e-12 / seconds(); }
};

struct RunOptions {
  bool full_data = true;
  bool check_golden = true;                // full data only
  trace::Session* trace = nullptr;         // records the run, also if it fails
  firmware_watch::Watch* watch = nullptr;  // observes RISC-V control processors
  std::uint64_t most_cycles = 0;           // a longer run is stopped with an error; 0: no limit
};

// A machine that runs jobs in sequence without repeated elaboration. It is unusable after a RunError. Several runners
// in a process are independent.
class Runner {
 public:
  Runner(const MachineConfig& machine, config::EnergyTable energy, bool full_data);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // The schedule must be complete. Throws RunError for a fault, a deadlock or a firmware status other than done;
  // TilingError for a tiling larger than the layer.
  RunResult run(const workload::Workload& network, const Schedule& schedule, const Tensors* tensors,
                const RunOptions& options);
  Platform& platform();

 private:
  RunResult run_once(const workload::Workload& network, const Schedule& schedule, const Tensors* tensors,
                     const RunOptions& options);
  void collect(RunResult& result);

  config::EnergyTable energy_;  // completed by the energy model of the machine
  Floorplan floorplan_;
  std::optional<Elaborated> elaborated_;
};

Tensors random_tensors(const workload::Workload& network, std::uint64_t seed);

}  // namespace attnvp::job
