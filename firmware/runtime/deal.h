// Weighted distribution of row units to heterogeneous cores of a cluster, in proportion to their weights. Each unit in
// turn goes to the core that would finish it first; ties go to the lower core number. A window [from, from + units) of
// this sequence is processed in parallel. Units that exceed a core's L1 capacity go to the other cores.
#pragma once

#include "firmware/hal/job.h"

// RISC-V firmware is built for one kind of machine (default: equal cores); native firmware supports both.
#ifndef ATTNVP_HETEROGENEOUS_CORES
#ifdef __riscv
#define ATTNVP_HETEROGENEOUS_CORES 0
#else
#define ATTNVP_HETEROGENEOUS_CORES 1
#endif
#endif

namespace attnvp::firmware {

using std::uint32_t;
using std::uint64_t;

class Deal {
 public:
  Deal() = default;
  Deal(const hal::Cores& cores, uint32_t count) : cores_(cores) { use(count); }
  void use(uint32_t count);  // uses the first `count` cores

  uint32_t weight(uint32_t core) const { return cores_.weight[core]; }
  uint32_t most_weight() const { return most_weight_; }
  uint32_t rows(uint32_t core) const { return cores_.rows[core]; }
  uint32_t least_rows() const { return cores_.least_rows; }
  uint32_t most_rows() const { return cores_.most_rows; }
  uint32_t least_columns() const { return cores_.least_columns; }

  // Core k gets the units [begin[k], begin[k + 1]) of the window, at most `capacity`. The window has at most `capacity`
  // units per core.
  void split(uint64_t from, uint32_t units, uint32_t capacity, uint32_t* begin) const;
  // Largest window in which the fastest core receives its full share.
  uint32_t full_window(uint32_t capacity) const;

 private:
  void first(uint64_t units, uint64_t* of_core) const;  // units per core among the first `units`

  hal::Cores cores_{};
  uint32_t count_ = 0, most_weight_ = 0, all_weights_ = 0;
};

// Weighted distribution of consecutive units to clusters.
class ClusterDeal {
 public:
  static constexpr uint32_t kParts = 1U << 16;
  explicit ClusterDeal(uint32_t clusters) : clusters_(clusters) {}
  std::uint16_t* weights() { return weight_; }
  // First unit of a cluster if each of `units` equal units goes to the cluster that would finish it first; `cluster`
  // may be the number of clusters.
  uint32_t begin_of_units(uint32_t cluster, uint32_t units) const;
  // Share of the clusters before `cluster`, in kParts.
  uint32_t begin_of_parts(uint32_t cluster) const;

 private:
  uint64_t weights_before(uint32_t cluster) const;

  uint32_t clusters_;
  std::uint16_t weight_[hal::kMostClusters] = {};
};

}  // namespace attnvp::firmware
