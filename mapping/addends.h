// A layer's bias as a tensor.
#pragma once

#include <cstdint>

#include "mapping/bus.h"

namespace attnvp::mapping {

// Where firmware reads it (hal::Addends); 0: there is none.
std::uint64_t addends_of(const Job& job);

}  // namespace attnvp::mapping
