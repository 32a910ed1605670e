// The least cycles a machine can take, from what a run counted and what the machine moves and computes in a
// cycle.
#pragma once

#include <string>

#include "platform/job/job.h"

namespace attnvp::reproduce {

constexpr double kWordBytes = 2;  // of the DRAM counters

// Cycles of one resource alone, all of its instances at full rate.
struct Terms {
  double mac = 0;   // both matmuls
  double vec = 0;   // softmax
  double dram = 0;  // all words over the bus
  double most() const;
  const char* binding() const;  // "MAC", "VEC", "DRAM"
};
Terms terms(const job::Result& result, const MachineConfig& machine);

struct Bound {
  double cycles = 0;
  std::string text;  // which terms it is made of: "DRAM 1.18 + DRAM 1.97 + DRAM 1.18"
};
// What the dataflow's order of work leaves at least, with any tile sizes; of tileflow, which drains its pipeline for
// every group of heads in L1, with the run's row blocks.
Bound bound(const job::Result& result, const MachineConfig& machine);

}  // namespace attnvp::reproduce
