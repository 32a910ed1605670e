// Address of a layer's bias tensor.
#pragma once

#include <cstdint>

#include "platform/schedule/bus.h"

namespace attnvp::schedule {

// Address from which firmware reads the bias (hal::Addends); 0: none.
std::uint64_t addends_of(const Job& job);

}  // namespace attnvp::schedule
