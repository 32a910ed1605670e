// Commands of vec_unit.sv and vec_linear.sv.
#pragma once

#include <cstdint>

#include "models/arith/half.h"

namespace attnvp::rtl {

// Bits of cmd_flags.
enum VecFlags : std::uint8_t {
  kFeedWhole = 0,  // the row fits into the buffers and is fed once
  kFeedMax = 1,    // longer rows are fed three times
  kFeedSum = 2,
  kFeedOut = 3,
  kOnline = 4,
  kFirst = 8,    // online: no earlier running maximum
  kScalar = 16,  // online: the sum is element 0, exact
  kGiven = 32,   // online: the maximum is the running one
};

struct VecCommand {
  std::uint8_t flags = 0;
  std::uint32_t length = 0;     // elements
  arith::Half running_max = 0;  // online
};

// x * a + z * b, or x / a; FP32, with an a and a b per element.
struct LinearCommand {
  bool divide = false;
  std::uint32_t length = 0;  // elements
};

}  // namespace attnvp::rtl
