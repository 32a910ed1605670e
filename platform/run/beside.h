// Concurrent jobs on one machine, each on a part of it. Each job has its own clusters, layer, dataflow and tiling, and
// an even part of the bytes of DRAM and L2. The jobs share the interconnect, the bandwidth of DRAM and L2, and a cache
// if there is one.
//
// All jobs boot at the same time. For comparison each job also runs alone on its clusters, timing only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/interconnect/address_map.h"
#include "models/machine.h"
#include "platform/run/job.h"

namespace attnvp::job {

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
