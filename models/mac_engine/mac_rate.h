// How many steps of depth a PE takes in a cycle: as many operands of a short type go where one of a long one does.
#pragma once

#include <cstdint>

#include "firmware/hal/descriptor.h"
#include "models/mac_engine/config.h"

namespace attnvp {

inline std::uint64_t mac_rate(const MacConfig& config, hal::ElementType type) {
  switch (type) {
    case hal::ElementType::kInt8:
      return config.int8_rate;
    case hal::ElementType::kFp8E4M3:
    case hal::ElementType::kFp8E5M2:
      return config.fp8_rate;
    default:
      return 1;
  }
}

}  // namespace attnvp
