// Values in double precision that the golden checks of operations share, and their rounding bounds
// (platform/run/operations.h).
#pragma once

#include <algorithm>
#include <cmath>

#include "firmware/hal/descriptor.h"
#include "platform/run/golden/golden_kernels.h"

namespace attnvp::job {

inline constexpr double kOneRounding = 1.01 * kU;  // 1.01 covers products of roundings

// FP32 error `added`, and the rounding of the result.
inline double rounded(double expected, double added) { return added + kH * (std::abs(expected) + added) + kHalfTiny; }

inline double activation_of(hal::Activation f, double x) {
  constexpr double kPi = 3.14159265358979323846;
  switch (f) {
    case hal::Activation::kRelu:
      return std::max(x, 0.0);
    case hal::Activation::kSilu:
      return x / (1 + std::exp(-x));
    case hal::Activation::kGelu:
      return x / 2 * std::erfc(-x / std::sqrt(2.0));
    case hal::Activation::kGeluTanh:
      return x / (1 + std::exp(-2 * std::sqrt(2 / kPi) * (x + 0.044715 * x * x * x)));
  }
  return x;
}

}  // namespace attnvp::job
