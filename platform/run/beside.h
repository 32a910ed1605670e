// Concurrent jobs on one machine. Each job has its own clusters, layer, dataflow and tiling, and an even part of the
// bytes of DRAM and L2. The jobs share the interconnect, the bandwidth of DRAM and L2, and a cache if there is one.
//
// All jobs boot at the same time. For comparison each job also runs alone on its clusters, timing only.
#pragma once

#include <cstdint>
#include <vector>

#include "platform/run/job.h"
#include "platform/run/part.h"

namespace attnvp::job {

struct Neighbour {
  workload::Workload network;
  Schedule schedule;  // complete
  Tensors tensors;    // empty in timing mode
};

struct NeighbourResult {
  Clusters clusters;
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
                      const std::vector<Part>& parts, const std::vector<Neighbour>& jobs);

}  // namespace attnvp::job
