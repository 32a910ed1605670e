// Names of stall reasons in reports, pages and timelines.
#pragma once

#include <string>

#include "models/sim/stall_attribution.h"

namespace attnvp::trace {

constexpr std::uint8_t kTagOfL2 = 9;  // tag of a load from the L2
// "K from DRAM", "P from VEC", "space", "processor", "order" and similar. A load's tag is the index of its tensor in Q,
// K, V, C, P, O, partial results, bias, from 1.
std::string reason(const StallReason& cause);

}  // namespace attnvp::trace
