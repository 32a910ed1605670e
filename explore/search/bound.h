// Lower bounds, proved in bound.cpp: no run of the dataflow with that tiling takes fewer cycles or less energy on the
// machine that the configuration describes. A search need not simulate a tiling whose bound is no better than what it
// has, and says how far its result is from the least bound of all tilings.
#pragma once

#include <cstdint>

#include "explore/search/counts.h"

namespace attnvp::explore {

// Lower bounds on a run's cycles, one per argument; the run takes the largest at least.
struct CycleBounds {
  double mac = 0;    // both matmuls, behind the first load and before the last store
  double vec = 0;    // softmax, behind the first C and before the last O
  double dram = 0;   // all bytes over the bus
  double l1 = 0;     // all bytes through ports and banks
  double start = 0;  // mac, with what the MAC engines cannot yet do while the first heads' data arrive
  double most() const;
  const char* binding() const;  // "MAC", "VEC", "DRAM", "L1", "start"
};

class Bound {
 public:
  explicit Bound(const Problem& problem) : problem_(problem), facts_(problem) {}

  // Every tile size given (none 0), as a Space's tilings are.
  CycleBounds cycle_bounds(const hal::Tiling& tiling) const;
  double cycles(const hal::Tiling& tiling) const;  // whole
  double energy_pj(const hal::Tiling& tiling) const;

 private:
  CycleBounds fused(const Counts& counts) const;
  CycleBounds unfused(const Counts& counts) const;
  double mac_start(const Counts& counts, double work) const;
  double first_load(const Counts& counts) const;
  double tail(const Counts& counts, bool all_lanes) const;
  double boot_cycles() const;
  double before_data() const;
  double dram_cycles(double bytes) const;
  double l1_cycles(const Counts& counts) const;

  const Problem& problem_;
  DataflowFacts facts_;
};

}  // namespace attnvp::explore
