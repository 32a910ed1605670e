// Traffic and work of a schedule, counted from its command stream without simulation. Uses the models' own counts of
// each command; the sums equal the simulation's counters exactly.
#pragma once

#include <cstdint>

#include "models/engine/mac_engine/mac_plan.h"
#include "models/engine/vec_engine/vec_plan.h"
#include "models/machine.h"
#include "platform/schedule/bus.h"

namespace attnvp::schedule {

struct Traffic {  // bytes
  std::uint64_t read = 0, written = 0;
};

struct Counts {
  std::uint64_t commands = 0;  // of all queues, including those that only wait and signal
  Traffic dram, l2, l1, l0;
  std::uint64_t l1_peak_bytes = 0;  // of the cluster with the most
  MacWork mac;
  VecWork vec;
  std::uint64_t mac_cycles = 0, vec_cycles = 0;  // busy cycles of all units together
  std::uint64_t refused = 0;                     // commands that their engine refuses
  hal::Status status = hal::Status::kDone;       // of the first cluster that failed
};

Counts count(const Job& job, const MachineConfig& machine);

}  // namespace attnvp::schedule
