// Rounding of non-negative numbers below 2^63, equal to std::ceil and std::llround. Inline, since every access rounds.
#pragma once

#include <cstdint>

namespace attnvp {

inline std::uint64_t whole_above(double x) {
  const auto below = static_cast<std::int64_t>(x);
  return static_cast<std::uint64_t>(below) + (static_cast<double>(below) < x ? 1 : 0);
}

inline std::uint64_t whole_nearest(double x) {
  const auto below = static_cast<std::int64_t>(x);
  return static_cast<std::uint64_t>(below) + (x - static_cast<double>(below) >= 0.5 ? 1 : 0);
}

}  // namespace attnvp
