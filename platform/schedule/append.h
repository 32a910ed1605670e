// Rows of the KV cache that firmware writes before attention (hal::kAppends); the host does not initialise them.
#pragma once

#include <cstdint>
#include <vector>

#include "platform/schedule/bus.h"

namespace attnvp::schedule {

// Address range [low, high).
struct Bytes {
  std::uint64_t low, high;
};
// Appended rows of K and V, in order of addresses; empty: nothing is appended.
std::vector<Bytes> appended(const Job& job);
// Address of the new rows of K; 0: none.
hal::Append append_of(const Job& job);

}  // namespace attnvp::schedule
