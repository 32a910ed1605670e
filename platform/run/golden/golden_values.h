// Values in double precision that the golden checks of operations share.
#pragma once

#include <algorithm>
#include <cmath>

#include "firmware/hal/descriptor.h"

namespace attnvp::job {

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
