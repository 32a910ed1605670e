// Distribution of a run's work over clusters and cores.
#pragma once

#include <cstdint>
#include <vector>

#include "platform/run/job.h"

namespace attnvp::job {

// Work of one kind, by worker.
struct Dealt {
  std::vector<std::uint64_t> each;
  std::uint64_t total() const;
  std::uint64_t most() const;
  double mean() const;
  // Most over mean: the slowdown against an even distribution if nothing else limits it. 1: even, or no work.
  double ratio() const;
};

struct Imbalance {
  // Work of clusters: multiply-accumulates, busy cycles of VEC engines without stalls, bytes of DMA over the
  // interconnect.
  Dealt macs, vec_cycles, dma_bytes;
  // Work of cores, in order of clusters.
  Dealt core_macs, core_vec_cycles;
  std::vector<std::uint64_t> end;  // of clusters: cycles from the start of the run to their last activity
  std::size_t first() const;       // cluster that ends first; ties: the first
  std::size_t last() const;        // cluster that ends last; ties: the first
};
// Uses the counters and stall attribution of the result.
Imbalance imbalance_of(const RunResult& result);

}  // namespace attnvp::job
