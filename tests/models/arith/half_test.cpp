#include "models/arith/half.h"

#include <gtest/gtest.h>

#include <climits>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "models/arith/isa.h"

namespace attnvp::arith {
namespace {

double definition(Half h) {
  const int exponent = (h >> 10) & 31, mantissa = h & 1023;
  const double magnitude = exponent == 31  ? std::numeric_limits<double>::infinity()
                           : exponent == 0 ? std::ldexp(mantissa, -24)
                                           : std::ldexp(1024 + mantissa, exponent - 25);
  return (h & kHalfSign) != 0 ? -magnitude : magnitude;
}

float float_of(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

TEST(Half, AllPatternsToFloatAndBack) {
  for (std::uint32_t i = 0; i < 65536; ++i) {
    const auto h = static_cast<Half>(i);
    const float value = float_from_half(h);
    if (is_nan(h)) {
      EXPECT_TRUE(std::isnan(value));
      EXPECT_EQ(half_from_float(value), kHalfNan);
      EXPECT_EQ(half_from_double(value), kHalfNan);
      continue;
    }
    ASSERT_EQ(static_cast<double>(value), definition(h)) << i;
    EXPECT_EQ(std::signbit(value), (h & kHalfSign) != 0);
    EXPECT_EQ(half_from_float(value), h);
    EXPECT_EQ(half_from_double(double_from_half(h)), h);
  }
}

TEST(Half, RoundsToNearestEvenBetweenAllNeighbours) {
  for (std::uint32_t i = 0; i < 0x7C00; ++i) {
    const auto low = static_cast<Half>(i), high = static_cast<Half>(i + 1);
    const double above = high == kHalfInfinity ? 65536.0 : definition(high);
    const double middle = (definition(low) + above) / 2;  // exact in float
    const Half even = (i & 1) == 0 ? low : high;
    for (const Half sign : {Half{0}, kHalfSign}) {
      const double s = sign != 0 ? -1.0 : 1.0;
      const auto signed_of = [&](Half h) { return static_cast<Half>(h | sign); };
      const auto m = static_cast<float>(s * middle);
      ASSERT_EQ(half_from_float(m), signed_of(even)) << i;
      ASSERT_EQ(half_from_float(std::nextafterf(m, 0.0F)), signed_of(low)) << i;
      ASSERT_EQ(half_from_float(std::nextafterf(m, 2 * m)), signed_of(high)) << i;
      ASSERT_EQ(half_from_double(s * middle), signed_of(even)) << i;
      // Would round twice by way of float.
      ASSERT_EQ(half_from_double(std::nextafter(s * middle, 0.0)), signed_of(low)) << i;
      ASSERT_EQ(half_from_double(std::nextafter(s * middle, 2 * s * middle)), signed_of(high)) << i;
    }
  }
}

TEST(Half, Extremes) {
  EXPECT_EQ(half_from_float(65519.996F), kHalfMax);
  EXPECT_EQ(half_from_float(65520.0F), kHalfInfinity);
  EXPECT_EQ(half_from_float(std::numeric_limits<float>::max()), kHalfInfinity);
  EXPECT_EQ(half_from_float(std::numeric_limits<float>::denorm_min()), 0);
  EXPECT_EQ(half_from_float(-0.0F), kHalfSign);
  EXPECT_EQ(half_from_double(std::numeric_limits<double>::denorm_min()), 0);
  EXPECT_EQ(half_from_double(-1e300), kHalfInfinity | kHalfSign);
  EXPECT_EQ(half_from_float(float_of(0xFF800001)), kHalfNan);  // signalling, negative
}

TEST(Half, ArraysMatchScalarsInEveryVariant) {
  std::vector<Half> halves(65536);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<Half>(i);
  std::mt19937 random(1);
  std::vector<float> floats(200003);  // bit patterns, rich in the range of halves
  for (std::size_t i = 0; i < floats.size(); ++i) {
    const auto bits = static_cast<std::uint32_t>(random());
    floats[i] = float_of(i % 2 == 0 ? bits : (bits & 0x8FFFFFFF) | 0x30000000);
  }
  for (const Isa isa : {Isa::kPortable, Isa::kAvx2}) {
    if (!isa_available(isa)) continue;
    set_isa(isa);
    std::vector<float> to_float(halves.size());
    floats_from_halves(halves.data(), to_float.data(), halves.size());
    for (std::size_t i = 0; i < halves.size(); ++i) {
      const float value = float_from_half(halves[i]);
      ASSERT_EQ(std::memcmp(&to_float[i], &value, sizeof(value)), 0) << i;
    }
    std::vector<Half> to_half(floats.size());
    halves_from_floats(floats.data(), to_half.data(), floats.size());
    for (std::size_t i = 0; i < floats.size(); ++i) {
      ASSERT_EQ(to_half[i], half_from_float(floats[i])) << floats[i];
    }
  }
}

TEST(Half, UlpDistance) {
  EXPECT_EQ(ulp_distance(0, kHalfSign), 0);
  EXPECT_EQ(ulp_distance(1, kHalfSign | 1), 2);
  EXPECT_EQ(ulp_distance(kHalfOne, kHalfOne + 3), 3);
  EXPECT_EQ(ulp_distance(kHalfMax, kHalfInfinity), 1);
  EXPECT_EQ(ulp_distance(kHalfNan, 0x7C01), 0);
  EXPECT_EQ(ulp_distance(kHalfNan, 0), INT_MAX);
}

}  // namespace
}  // namespace attnvp::arith
