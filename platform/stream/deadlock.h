// Why a streaming machine cannot go on, and what would free it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "models/stream/machine.h"

namespace attnvp::stream {

struct Blocked {
  std::size_t node = 0;
  std::size_t channel = 0;
  bool for_room = false;    // else for data
  std::uint64_t since = 0;  // cycle
  std::size_t on = 0;       // the node at the channel's other end
};

struct Deadlock {
  std::vector<Blocked> blocked;     // in the order of nodes
  std::vector<std::size_t> circle;  // indices of `blocked`, each waiting for the next, the last for the first
  // Depths, by channel, with which the run finishes, and its cycles then; empty if no depth frees it. Each is the
  // smallest: with one less, and the others as they are, there is a deadlock again.
  std::vector<std::pair<std::size_t, std::uint64_t>> freed_by;
  std::uint64_t freed_cycles = 0;
};

// Of a machine whose run did not finish.
std::vector<Blocked> blocked_nodes(const Machine& machine);
std::vector<std::size_t> circle_from(const std::vector<Blocked>& blocked, std::size_t first);

// The machine runs again, more than once; its depths are then those that free it, if any do.
Deadlock explain_deadlock(Machine& machine);

}  // namespace attnvp::stream
