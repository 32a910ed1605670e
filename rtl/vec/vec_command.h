// What vec_unit.sv and vec_linear.sv take as commands.
#pragma once

#include <cstdint>

#include "models/arith/half.h"

namespace attnvp::rtl {

// cmd_flags.
enum VecFlags : std::uint8_t {
  kFeedWhole = 0,  // the row fits into the buffers and comes once
  kFeedMax = 1,    // longer ones come three times
  kFeedSum = 2,
  kFeedOut = 3,
  kOnline = 4,
  kFirst = 8,    // online: no running maximum before
  kScalar = 16,  // online: the sum is that of element 0, exact
  kGiven = 32,   // online: the maximum is the running one, whatever the row holds
};

struct VecCommand {
  std::uint8_t flags = 0;
  std::uint32_t length = 0;     // elements
  arith::Half running_max = 0;  // online
};

// x * a + z * b, or x / a; FP32, each element with an a and a b of its own.
struct LinearCommand {
  bool divide = false;
  std::uint32_t length = 0;  // elements
};

}  // namespace attnvp::rtl
