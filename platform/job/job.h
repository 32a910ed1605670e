// One job, from tensors to report: a layer, a dataflow and a machine in; cycles, counts, energy and the check out.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "firmware/hal/job.h"
#include "models/machine.h"
#include "platform/config/energy.h"
#include "platform/config/network.h"
#include "platform/job/counters.h"
#include "platform/job/golden.h"

namespace attnvp {
class Platform;
}
namespace attnvp::trace {
class Session;
}

namespace attnvp::job {

// The simulated machine or its firmware failed: exit status 1.
struct RunError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// It stopped on its own, by a fault or a deadlock: what was traced up to there is worth a look.
struct StoppedError : RunError {
  using RunError::RunError;
};

struct Schedule {
  std::string dataflow;
  std::vector<std::uint32_t> options;  // index of the value per option, in the dataflow's order
  std::string text;                    // as given: "flat:prefetch=off"
  hal::Tiling tiling{};
};
// "NAME" or "NAME:option=value,...". Throws config::ConfigError naming what exists.
Schedule parse_dataflow(const std::string& text);
// "nq=64,nkv=512,...", a name under configs/tilings or a path of a YAML file with those keys. Throws
// config::ConfigError.
hal::Tiling parse_tiling(const std::string& text);
// The same keys with their values, in order.
std::vector<std::pair<std::string, std::string>> tiling_text(const hal::Tiling& tiling);

struct Tensors {
  std::vector<arith::Half> q, k, v;  // [batch, heads, seq, emb]
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

struct Result {
  config::Network network;
  Schedule schedule;  // tiling as used
  std::uint64_t cycles = 0;
  double frequency_hz = 0;
  bool golden_checked = false;
  GoldenResult golden;
  Utilization utilization;
  Peak peak;
  std::uint64_t k_overwrites = 0, v_overwrites = 0;  // K or V that gave way to P (section 4.3),
  std::uint64_t reload_bytes = 0;                    // and what was loaded again for that
  hal::Partition partition{};                        // of dataflows that deal tiles of contexts to workers
  std::vector<Worker> workers;                       // likewise
  std::vector<CounterValue> counters;
  std::vector<arith::Half> output;  // [batch, heads, seq_q, emb]; empty in timing mode
  double wall_seconds = 0;
  std::uint64_t events = 0;  // simulation events: delta cycles

  double seconds() const { return static_cast<double>(cycles) / frequency_hz; }
  // Sum over modules whose name ends in `module` ("dram", "l1", "l0", "mac", "vec").
  std::uint64_t sum(std::string_view module, std::string_view counter) const;
  std::uint64_t max(std::string_view module, std::string_view counter) const;
  double energy_pj(std::string_view module) const;
  double total_energy_pj() const;
};

struct RunOptions {
  bool full_data = true;
  bool check_golden = true;         // full data only
  trace::Session* trace = nullptr;  // records the run, one that fails included
};

// A machine ready to run jobs, one after the other, without elaborating again. After a RunError it is spent.
class Runner {
 public:
  Runner(const MachineConfig& machine, config::EnergyTable energy, bool full_data);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // Throws RunError for a fault, a deadlock or a firmware status other than done, in one sentence.
  Result run(const config::Network& network, const Schedule& schedule, const Tensors* tensors,
             const RunOptions& options);
  Platform& platform() { return *platform_; }

 private:
  hal::JobBlock make_job(const config::Network& network, const Schedule& schedule, hal::Scratch& scratch) const;
  void check_status(Result& result);
  void collect(Result& result);

  config::EnergyTable energy_;
  std::unique_ptr<Platform> platform_;
};

Tensors random_tensors(const config::Network& network, std::uint64_t seed);

}  // namespace attnvp::job
