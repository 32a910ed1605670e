// The command stream on the machine's resources, without its data and without a simulation: every queue takes its
// commands in order, a command begins when the events that it waits for have their tokens, and ends when the engine's
// units, its L1 port and the DRAM bus have had the time that they need.
//
//   estimate  L1's ports and banks are shared as the scratchpad shares them (shared_l1.h), DRAM's bus serves one
//             transfer of a cluster at a time, the oldest descriptor's first, and the processor's bus accesses take
//             their time in the program's order. For comparing schedules with each other.
//   bound     every channel has the whole bus to itself, and a queue's descriptors wait for no other queue's to be
//             written: no run of the schedule takes less.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "mapping/costs.h"
#include "mapping/recording.h"

namespace attnvp::mapping {

constexpr double kNever = std::numeric_limits<double>::infinity();  // the cycles of what has no end

enum class Contention : std::uint8_t { kEstimate, kBound };

struct Replay {
  double cycles = 0;           // to the firmware's end; infinite where commands wait for each other
  bool finished = true;        // false: some command never began
  std::size_t happenings = 0;  // that it took
};
// `share`: what all clusters load and store, over what this one does (estimate).
Replay replay(const Recording& recording, const Costs& costs, Contention contention, double share = 1);
// Several clusters side by side, to the end of the last one, or until `enough` cycles are over.
Replay replay(const std::vector<const Recording*>& clusters, const Costs& costs, Contention contention,
              double share = 1, double enough = kNever);

}  // namespace attnvp::mapping
