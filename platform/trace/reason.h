// The words for what an engine waits for: the same in reports, pages and timelines.
#pragma once

#include <string>

#include "models/account/account.h"

namespace attnvp::trace {

constexpr std::uint8_t kTagOfL2 = 9;  // of a load whose source is the L2
// "K from DRAM", "P from VEC", "space", "processor", "order" and the like. A load's tag is the place of its tensor in
// Q, K, V, C, P, O, partial results, the bias, from 1 on.
std::string reason(const Cause& cause);

}  // namespace attnvp::trace
