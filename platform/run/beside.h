// Concurrent jobs on one machine, each on a part of it. Each job has its own clusters, layer, dataflow and tiling, and
// an even part of the bytes of DRAM and L2. The jobs share the interconnect, the bandwidth of DRAM and L2, and a cache
// if there is one.
//
// All jobs boot at the same time. For comparison each job also runs alone on its clusters, timing only. Placed is one
// job in a platform, alone or beside others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/interconnect/address_map.h"
#include "models/machine.h"
#include "models/memory/storage/host_memory.h"
#include "platform/run/job.h"
#include "platform/schedule/bus.h"

namespace attnvp::job {

// A job placed in a platform: inputs that the host writes for firmware before a run, and results that it reads after
// it.

class Placed {
 public:
  // Writes all inputs. `machine`: as the job's firmware sees it, the platform's or a partition's. The complete schedule
  // and the tensors must outlive this object; tensors are used in full mode only.
  Placed(Platform& platform, const Partition& partition, const MachineConfig& machine,
         const workload::Workload& network, const Schedule& schedule, const Tensors* tensors);

  void tag() const;  // tensors, for the stall attribution of a platform with one job
  // Reads statistics and workers. Throws RunError for a firmware status other than done.
  void read_answers(RunResult& result) const;
  // Reads the output and runs the golden check, in full mode.
  void read_output(RunResult& result, bool check_golden) const;
  std::string what() const;  // "bert-base on edge with mas"

 private:
  void write(std::uint64_t address, const void* data, std::size_t bytes) const;  // the job's addresses
  void read(std::uint64_t address, void* data, std::size_t bytes) const;
  bool converts() const {  // the last operation is kConvert
    if (network_.gemm() != nullptr) return network_.gemm()->fusion.out.has_value();
    return network_.rows() != nullptr && network_.rows()->opcode == hal::Opcode::kConvert;
  }
  void read_cached(const workload::Gemm& product, std::vector<arith::Half>& result) const;
  void put_tables();
  void put_tensors() const;

  Platform& platform_;
  const Partition partition_;
  const MachineConfig machine_;
  const workload::Workload network_;
  const Schedule& schedule_;
  const Tensors* tensors_;
  schedule::Job made_;
  std::uint64_t scratch_ = 0;
  Quantised kept_;
  host_memory::MemoryShare pages_;
};

// Lower bound of cycles by the MAC and VEC arrays and the DRAM bus, without masks.
double ideal_cycles(const workload::Workload& network, const MachineConfig& machine);

// Throws StoppedError after a fault, a deadlock, or with unfinished commands.
void check_ended(Platform& platform, const std::string& what);

// Consecutive clusters.
struct ClusterRange {
  std::uint32_t first = 0, count = 0;
  std::uint32_t end() const { return first + count; }
  std::string text() const;  // "2", "0-1"
};
// Parses "2" or "0-1". Throws config::ConfigError.
ClusterRange parse_clusters(const std::string& text);

// Part of a machine for one job.
struct MachinePart {
  ClusterRange clusters;
  Partition partition;  // mailbox, DRAM and L2 of the job
  MachineConfig
      machine;  // as its firmware and the choice of its tiles see it: so many clusters, an even part of DRAM and L2
};
// Parts in the requested order. Throws config::ConfigError for clusters that do not exist or are requested twice.
std::vector<MachinePart> parts_of(const MachineConfig& machine, const std::vector<ClusterRange>& wanted);

struct Neighbour {
  workload::Workload network;
  Schedule schedule;  // complete
  Tensors tensors;    // empty in timing mode
};

struct NeighbourResult {
  ClusterRange clusters;
  // Results of its clusters alone, up to the end of the last one: cycles from boot, counters and energy by the
  // machine's names, utilisation, golden check. Excludes shared modules: no stall attribution, no bound.
  RunResult result;
  std::uint64_t alone_cycles = 0;
  // DRAM traffic of its clusters.
  std::uint64_t dram_read_bytes = 0, dram_write_bytes = 0;
  std::uint64_t dram_bytes() const { return dram_read_bytes + dram_write_bytes; }
  double slowdown() const;  // 1: not delayed by the other jobs
};

struct SideBySide {
  std::vector<NeighbourResult> jobs;
  std::uint64_t cycles = 0;  // from boot to the end of the last job
  double frequency_hz = 0;
  RunResult machine;  // counters, energy and utilisation of the whole machine over these cycles
  double share(const NeighbourResult& job) const;  // of the DRAM traffic of all jobs
};

// Job i runs on part i. Throws RunError if a job fails, config::ConfigError if a layer does not fit its dataflow or
// part.
SideBySide run_beside(const MachineConfig& machine, const config::EnergyTable& energy, bool full_data,
                      const std::vector<MachinePart>& parts, const std::vector<Neighbour>& jobs);

}  // namespace attnvp::job
