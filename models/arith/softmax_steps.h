// Internal to this folder: steps of softmax.h and online.h without branches. They are inlined into the references and
// into one loop per variant, which the compiler vectorises.
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/arith/softmax.h"

#if defined(__GNUC__) || defined(__clang__)
#define ATTNVP_STEP inline __attribute__((always_inline))
#else
#define ATTNVP_STEP inline
#endif

namespace attnvp::arith::steps {

constexpr std::int32_t kFixedMinusInfinity = INT32_MIN;
constexpr std::uint32_t kMaxScale = 25;  // beyond it P * 2^-31-k rounds to zero

ATTNVP_STEP std::int32_t fixed_step(Half x) {
  const std::uint32_t exponent = (x >> 10) & 31U;
  const std::uint32_t significand = (x & 0x3FFU) | (exponent != 0 ? 0x400U : 0U);
  // x| = significand * 2^(e-25) and X has 14 fraction bits. After the shift by 20 bits the right shift is always >= 1.
  const std::uint32_t wide = significand << 20;
  const std::uint32_t shift = 31 - std::min(std::max(exponent, 1U), 30U);
  const std::uint32_t rounded = (wide + (1U << (shift - 1)) - 1 + ((wide >> shift) & 1)) >> shift;
  const auto magnitude = static_cast<std::int32_t>(rounded);
  const std::int32_t finite = (x & kHalfSign) != 0 ? -magnitude : magnitude;
  return exponent == 31 ? kFixedMinusInfinity : finite;
}

// Returns shift << 16 | mantissa.
ATTNVP_STEP std::uint32_t exponential(std::uint32_t difference) {
  const std::uint32_t d = std::min(difference, kSoftmaxMaxDifference);
  // The 41-bit product in two parts of 32 bits; floor(floor(x / a) / b) = floor(x / (a b)).
  const std::uint32_t low = ((d & 1023) * kLog2E + (1U << 18)) >> 10;
  const std::uint32_t t = ((d >> 10) * kLog2E + low) >> 9;
  const std::uint32_t shift = (t + 0xFFFF) >> 16;
  const std::uint32_t fraction = (0U - t) & 0xFFFF;
  const std::uint32_t segment = kExp2Table[fraction >> 10];
  const std::uint32_t mantissa = (((segment >> 12) << 8) + (segment & 0xFFF) * (fraction & 1023)) >> 12;
  return shift << 16 | mantissa;
}

ATTNVP_STEP std::uint64_t term_value(std::uint32_t packed) {
  return (static_cast<std::uint64_t>(packed & 0xFFFF) << 25) >> (packed >> 16);
}

ATTNVP_STEP std::uint32_t probability(std::uint32_t packed, std::uint32_t value, std::uint32_t exponent) {
  const std::uint32_t product = (packed & 0xFFFF) * value;
  const std::uint32_t scale = (packed >> 16) + exponent;
  const std::uint32_t k = std::min(scale, kMaxScale);
  const std::uint32_t sticky = (product >> 1) | (product & 1);  // 31 bits leave one for the rounding carry
  // A normal result keeps 11 bits, a subnormal one fewer.
  const std::uint32_t shift = std::max(19 + (product >> 31), 6 + k);
  const std::uint32_t rounded = (sticky + (1U << (shift - 1)) - 1 + ((sticky >> shift) & 1)) >> shift;
  // The exponent field minus one; the leading bit of a normal result and any carry add to it.
  const std::uint32_t bits = ((shift - 6 - k) << 10) + rounded;
  return scale > kMaxScale ? 0 : bits;
}

// Maps halves to 16-bit integers of the same order, with -0 just below +0; its own inverse.
ATTNVP_STEP std::int16_t order_key(std::int16_t bits) {
  return static_cast<std::int16_t>(bits ^ ((bits >> 15) & 0x7FFF));
}

}  // namespace attnvp::arith::steps
