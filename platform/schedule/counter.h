// What a schedule moves and computes, counted from its command stream without running it: the models' own counts of
// each command, summed. They equal the simulation's counters exactly.
#pragma once

#include <cstdint>

#include "models/mac_engine/mac_plan.h"
#include "models/machine.h"
#include "models/vec_engine/vec_plan.h"
#include "platform/schedule/bus.h"

namespace attnvp::schedule {

struct Traffic {  // bytes
  std::uint64_t read = 0, written = 0;
};

struct Counts {
  std::uint64_t commands = 0;  // of all queues, those that only wait and signal included
  Traffic dram, l2, l1, l0;
  std::uint64_t l1_peak_bytes = 0;  // of the cluster that holds most
  MacWork mac;
  VecWork vec;
  std::uint64_t mac_cycles = 0, vec_cycles = 0;  // that the units need, all engines together
  std::uint64_t refused = 0;                     // commands that their engine would not take
  hal::Status status = hal::Status::kDone;       // of the cluster that failed, if one did
};

// All clusters.
Counts count(const Job& job, const MachineConfig& machine);

}  // namespace attnvp::schedule
