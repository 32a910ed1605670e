// A layer's bias as a tensor.
#pragma once

#include <cstdint>

#include "platform/schedule/bus.h"

namespace attnvp::schedule {

// Where firmware reads it (hal::Addends); 0: there is none.
std::uint64_t addends_of(const Job& job);

}  // namespace attnvp::schedule
