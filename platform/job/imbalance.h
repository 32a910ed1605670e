// How evenly a run's work was dealt to clusters and to their cores, whatever dealt it.
#pragma once

#include <cstdint>
#include <vector>

#include "platform/job/job.h"

namespace attnvp::job {

// Work of one kind, of every worker.
struct Dealt {
  std::vector<std::uint64_t> each;
  std::uint64_t total() const;
  std::uint64_t most() const;
  double mean() const;
  // Most over mean: so many times as long as evenly dealt work takes, where nothing else holds it up. 1: even, or none.
  double ratio() const;
};

struct Imbalance {
  // Of clusters: multiply-accumulates, cycles in which VEC engines worked (stalls not counted), bytes that crossed the
  // interconnect by DMA.
  Dealt macs, vec_cycles, dma_bytes;
  // Of cores, cluster by cluster.
  Dealt core_macs, core_vec_cycles;
  std::vector<std::uint64_t> end;  // of clusters: cycles from the run's beginning to the last that one did
  std::size_t first() const;       // that ends; of equal ones the first
  std::size_t last() const;        // likewise
};
// From the counters and accounts of the result's modules.
Imbalance imbalance_of(const Result& result);

}  // namespace attnvp::job
