// Deadlock analysis of a streaming machine: blocked nodes, circular wait, and channel depths that resolve it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "models/streaming/machine.h"

namespace attnvp::stream {

struct Blocked {
  std::size_t node = 0;
  std::size_t channel = 0;
  bool for_room = false;    // waits for space; else for data
  std::uint64_t since = 0;  // cycle
  std::size_t on = 0;       // node at the other end of the channel
};

struct Deadlock {
  std::vector<Blocked> blocked;     // in order of nodes
  std::vector<std::size_t> circle;  // indices of `blocked`; each waits for the next, the last for the first
  // Channel depths with which the run finishes, and its cycles; empty if no depths resolve the deadlock. Each depth is
  // minimal for the given others.
  std::vector<std::pair<std::size_t, std::uint64_t>> freed_by;
  std::uint64_t freed_cycles = 0;
};

// For a machine whose run did not finish.
std::vector<Blocked> blocked_nodes(const Machine& machine);
std::vector<std::size_t> circle_from(const std::vector<Blocked>& blocked, std::size_t first);

// Runs the machine again, several times; leaves the depths that resolve the deadlock, if any.
Deadlock explain_deadlock(Machine& machine);

}  // namespace attnvp::stream
