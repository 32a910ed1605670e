// Row units dealt to the cores of a cluster that are not equally fast: each core gets units in proportion to its
// weight.
//
// Units are handed out one by one, each to the core that would be done with it first; of equals, to the first one. A
// window of that sequence, [from, from + units), is what the cores do side by side. Where a core has no room for its
// share of a window, the others take the rest.
#pragma once

#include "firmware/hal/job.h"

// Firmware of RISC-V control processors is built for either kind of machine.
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
  void use(uint32_t count);  // the first so many cores

  uint32_t weight(uint32_t core) const { return cores_.weight[core]; }
  uint32_t most_weight() const { return most_weight_; }
  uint32_t all_weights() const { return all_weights_; }
  uint32_t rows(uint32_t core) const { return cores_.rows[core]; }
  uint32_t least_rows() const { return cores_.least_rows; }
  uint32_t most_rows() const { return cores_.most_rows; }
  uint32_t least_columns() const { return cores_.least_columns; }

  // Core k's units of the window are [begin[k], begin[k + 1]), counted from the window's first; at most `room` of them.
  // The window has at most `room` units for each core.
  void split(uint64_t from, uint32_t units, uint32_t room, uint32_t* begin) const;
  // The largest window in which the fastest core has its whole share.
  uint32_t full_window(uint32_t room) const;

 private:
  void first(uint64_t units, uint64_t* of_core) const;  // each core's of the sequence's first `units`

  hal::Cores cores_{};
  uint32_t count_ = 0, most_weight_ = 0, all_weights_ = 0;
};

}  // namespace attnvp::firmware
