// Which rows of the cache firmware writes before attention (hal::kAppends): there the host leaves nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "platform/schedule/bus.h"

namespace attnvp::schedule {

// Addresses [low, high).
struct Bytes {
  std::uint64_t low, high;
};
// Of K and V, in the order of addresses; empty: nothing is appended.
std::vector<Bytes> appended(const Job& job);
// Where new rows of K come from; 0: nowhere.
hal::Append append_of(const Job& job);

}  // namespace attnvp::schedule
