// Steps of k that a PE takes per cycle: operands of a short type share the width of a long one.
#pragma once

#include <cstdint>

#include "firmware/hal/descriptor.h"
#include "models/engine/mac_engine/config.h"

namespace attnvp {

inline std::uint64_t mac_rate(const MacConfig& config, hal::ElementType type) {
  if (hal::element_bytes(type) != 1) return 1;
  return hal::is_integer(type) ? config.int8_rate : config.fp8_rate;
}

}  // namespace attnvp
