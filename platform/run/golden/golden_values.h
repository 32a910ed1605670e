// Values in double precision that the golden checks of operations share, and their rounding bounds
// (platform/run/operations.h).
#pragma once

#include <algorithm>
#include <cmath>

#include "firmware/hal/descriptor.h"
#include "models/arith/number.h"
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

// Conversion of FP16 numbers to a type: greater ones become its greatest.
class Conversion {
 public:
  explicit Conversion(hal::ElementType type) : loss_(arith::rounding_of(type)) {
    constexpr float kGreat = 1e30F;
    unsigned char stored[sizeof(float)] = {};
    float largest = 0;
    arith::from_floats(type, &kGreat, stored, 1);
    arith::floats_from(type, stored, &largest, 1);
    greatest_ = std::min(largest, kGreatestHalf);
  }
  double value(double x) const { return std::clamp(x, -greatest_, greatest_); }
  // `before`: error of the number that is converted to `value`.
  double error(double value, double before) const {
    const double added = before + 2 * kOneRounding * std::abs(value);
    return std::max(loss_.relative * (std::abs(value) + added), loss_.least) + added;
  }

 private:
  static constexpr float kGreatestHalf = 65504;
  arith::Rounding loss_;
  double greatest_ = 0;
};

}  // namespace attnvp::job
