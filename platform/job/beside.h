// Jobs side by side on one machine: each has clusters of its own, with its own layer, dataflow and tiles; they share
// interconnect, DRAM's and L2's bandwidth (and a cache there is), of whose bytes each has an even part.
//
// All boot at once. Each job runs by itself on its clusters besides, timing only, which is what it is compared with.
#pragma once

#include <cstdint>
#include <vector>

#include "platform/job/job.h"
#include "platform/job/part.h"

namespace attnvp::job {

struct Neighbour {
  config::Network network;
  Schedule schedule;  // complete
  Tensors tensors;    // empty in timing mode
};

struct NeighbourResult {
  Clusters clusters;
  // Of its clusters alone: cycles from boot to its last cluster's end, counters and energy up to there (the machine's
  // own names), their utilisation, golden. Nothing of what is shared: no accounts of time, no bound.
  Result result;
  std::uint64_t alone_cycles = 0;
  // What its clusters asked of DRAM.
  std::uint64_t dram_read_bytes = 0, dram_write_bytes = 0;
  std::uint64_t dram_bytes() const { return dram_read_bytes + dram_write_bytes; }
  double slowdown() const;  // 1: the others do not hold it up
};

struct SideBySide {
  std::vector<NeighbourResult> jobs;
  std::uint64_t cycles = 0;  // from boot to the end of the last
  double frequency_hz = 0;
  Result machine;                                  // counters, energy and utilisation of all of it over these cycles
  double share(const NeighbourResult& job) const;  // of what all asked of DRAM
};

// Jobs and parts go together one by one. Throws RunError where any of them fails, config::ConfigError where a layer
// does not go with its dataflow or part.
SideBySide run_beside(const MachineConfig& machine, const config::EnergyTable& energy, bool full_data,
                      const std::vector<Part>& parts, const std::vector<Neighbour>& jobs);

}  // namespace attnvp::job
