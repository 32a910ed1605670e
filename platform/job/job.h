// One job, from tensors to report: a layer, a dataflow and a machine in; cycles, counts, energy and the check out.
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
#include "platform/config/energy.h"
#include "platform/config/error.h"
#include "platform/config/network.h"
#include "platform/config/schema.h"
#include "platform/job/accounting.h"
#include "platform/job/counters.h"
#include "platform/job/elaborated.h"
#include "platform/job/golden.h"
#include "platform/job/quantise.h"
#include "platform/job/schedule.h"

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

// It stopped on its own, by a fault or a deadlock: what was traced up to there is worth a look.
struct StoppedError : RunError {
  using RunError::RunError;
};

struct Utilization {
  double mac = 0, vec = 0, dma = 0, dram = 0;  // busy / total, mean over instances
};

// What the machine can do at best, for rooflines: all its instances together.
struct Peak {
  std::uint64_t macs_per_cycle = 0, vec_lanes = 0, l1_bytes = 0;
  double dram_bytes_per_cycle = 0, l1_bytes_per_cycle = 0;
};

// A core that computes tiles of many heads' contexts.
struct Worker {
  std::uint32_t cluster = 0, core = 0;
  std::uint32_t tiles = 0;  // computed
};

// What the machine takes of a chip, by the model of its technology; DRAM is none of it.
struct Floorplan {
  std::vector<std::pair<std::string, double>> parts;  // mm2 of all modules of a name together
  double spare_mm2 = 0;                               // between them
  double total_mm2() const;
};

struct Result {
  config::Network network;
  Schedule schedule;  // tiling as used
  std::uint64_t cycles = 0;
  double frequency_hz = 0;
  bool golden_checked = false;
  GoldenResult golden;
  Utilization utilization;
  Peak peak;
  // What firmware reported, by the names that the dataflow gives it; over all clusters.
  std::vector<std::pair<std::string, std::uint64_t>> statistics;
  std::vector<Worker> workers;  // of dataflows that deal tiles of contexts to workers
  std::vector<CounterValue> counters;
  std::vector<UnitTime> unit_times;
  Bound bound;
  Floorplan floorplan;
  double tdp_watts = 0;             // that the machine may draw; 0: no limit
  std::vector<arith::Half> output;  // [batch, heads, seq_q, emb], BF16 as FP16; empty in timing mode
  double wall_seconds = 0;
  std::uint64_t events = 0;  // simulation events: events of the queue and delta cycles

  double seconds() const { return static_cast<double>(cycles) / frequency_hz; }
  // Sum over modules whose name ends in `module`, the last part of it: "dram", "mac".
  std::uint64_t sum(std::string_view module, std::string_view counter) const;
  std::uint64_t max(std::string_view module, std::string_view counter) const;
  std::uint64_t statistic(std::string_view name) const;  // 0 where there is none of that name
  // What the machine is made of, in the order of its module tree: the memories, which count words read and written, and
  // the parts that have energy, as the energy table divides them.
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
  trace::Session* trace = nullptr;         // records the run, one that fails included
  firmware_watch::Watch* watch = nullptr;  // looks at RISC-V control processors
  std::uint64_t most_cycles = 0;           // a run that takes longer is stopped, which is an error; 0: any
};

// A machine ready to run jobs, one after the other, without elaborating again. After a RunError it is spent. Several in
// a process do not disturb each other.
class Runner {
 public:
  Runner(const MachineConfig& machine, config::EnergyTable energy, bool full_data);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // The schedule is complete. Throws RunError for a fault, a deadlock or a firmware status other than done, in one
  // sentence; TilingError for a tiling larger than the layer.
  Result run(const config::Network& network, const Schedule& schedule, const Tensors* tensors,
             const RunOptions& options);
  Platform& platform();

 private:
  Result run_once(const config::Network& network, const Schedule& schedule, const Tensors* tensors,
                  const RunOptions& options);
  void collect(Result& result);

  config::EnergyTable energy_;  // with all that the model says of the machine
  Floorplan floorplan_;
  std::optional<Elaborated> elaborated_;
};

Tensors random_tensors(const config::Network& network, std::uint64_t seed);

}  // namespace attnvp::job
