#include "models/arith/number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <vector>

#include "models/arith/softmax.h"

namespace attnvp::arith {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The formats as their papers have them, independent of the conversions.
struct Format {
  ElementType type;
  int exponent_bits, mantissa_bits, bias;
  bool infinities;  // E4M3 has the greatest exponent's other codes for numbers
};
constexpr Format kE4M3 = {ElementType::kFp8E4M3, 4, 3, 7, false}, kE5M2 = {ElementType::kFp8E5M2, 5, 2, 15, true},
                 kBf16 = {ElementType::kBf16, 8, 7, 127, true};

double definition(const Format& f, std::uint32_t bits) {
  const std::uint32_t mantissa = bits & ((1U << f.mantissa_bits) - 1);
  const std::uint32_t exponent = bits >> f.mantissa_bits & ((1U << f.exponent_bits) - 1);
  const bool negative = (bits >> (f.mantissa_bits + f.exponent_bits)) != 0;
  const bool highest = exponent == (1U << f.exponent_bits) - 1;
  double x = 0;
  if (highest && f.infinities) {
    x = mantissa == 0 ? kInfinity : std::nan("");
  } else if (highest && mantissa == (1U << f.mantissa_bits) - 1) {
    x = std::nan("");
  } else {
    const double fraction = mantissa * std::exp2(-f.mantissa_bits);
    x = exponent == 0 ? fraction * std::exp2(1 - f.bias) : (1 + fraction) * std::exp2(int(exponent) - f.bias);
  }
  return negative ? -x : x;
}

std::uint32_t codes(const Format& f) { return 1U << (1 + f.exponent_bits + f.mantissa_bits); }

float widened(const Format& f, std::uint32_t bits) {
  const auto two = static_cast<std::uint16_t>(bits);  // little-endian: its first byte is the byte
  float value = 0;
  floats_from(f.type, &two, &value, 1);
  return value;
}

std::uint32_t narrowed(const Format& f, float value) {
  std::uint16_t bits = 0;
  from_floats(f.type, &value, &bits, 1);
  return bits;
}

// By looking at every number of the format: the nearest, of two the one with an even code.
std::uint32_t nearest(const std::map<double, std::uint32_t>& magnitudes, double x) {
  const auto above = magnitudes.lower_bound(std::abs(x));
  if (above == magnitudes.end()) return magnitudes.rbegin()->second;
  if (above == magnitudes.begin()) return above->second;
  const auto below = std::prev(above);
  const double up = above->first - std::abs(x), down = std::abs(x) - below->first;
  if (up != down) return up < down ? above->second : below->second;
  return above->second % 2 == 0 ? above->second : below->second;
}

class Formats : public testing::TestWithParam<Format> {};
INSTANTIATE_TEST_SUITE_P(All, Formats, testing::Values(kE4M3, kE5M2, kBf16), [](const auto& of) {
  return of.param.type == ElementType::kBf16 ? "Bf16" : of.param.type == ElementType::kFp8E4M3 ? "E4M3" : "E5M2";
});

TEST_P(Formats, EveryCodeIsTheNumberItStandsFor) {
  const Format f = GetParam();
  for (std::uint32_t bits = 0; bits < codes(f); ++bits) {
    const double expected = definition(f, bits);
    const float value = widened(f, bits);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(value)) << bits;
      EXPECT_TRUE(std::isnan(definition(f, narrowed(f, value)))) << bits;
    } else {
      EXPECT_EQ(value, expected) << bits;
      const bool turns_nan = std::isinf(value) && !f.infinities;
      if (!turns_nan) {
        EXPECT_EQ(narrowed(f, value), bits);
      }
    }
  }
}

TEST_P(Formats, RoundToTheNearestAndOfTwoToTheEvenOne) {
  const Format f = GetParam();
  std::map<double, std::uint32_t> magnitudes;
  for (std::uint32_t bits = 0; bits < codes(f) / 2; ++bits) {
    if (std::isfinite(definition(f, bits))) magnitudes[definition(f, bits)] = bits;
  }
  const std::uint32_t sign = codes(f) / 2;
  const auto check = [&](float x) {
    const std::uint32_t expected = nearest(magnitudes, x) | (std::signbit(x) ? sign : 0);
    EXPECT_EQ(narrowed(f, x), expected) << x;
  };
  for (auto it = magnitudes.begin(); std::next(it) != magnitudes.end(); ++it) {
    const double middle = (it->first + std::next(it)->first) / 2;
    const auto at = static_cast<float>(middle);
    if (at != middle) continue;  // below FP32's range
    for (const float x : {at, std::nextafter(at, 0.0F), std::nextafter(at, 1e38F)}) {
      check(x);
      check(-x);
    }
  }
  std::mt19937 random(7);
  std::uniform_real_distribution<float> exponent(-24, 15), mantissa(-2, 2);
  for (int i = 0; i < 100000; ++i) check(std::ldexp(mantissa(random), static_cast<int>(exponent(random))));
  // What FP8 cannot hold becomes its greatest number.
  if (f.type != ElementType::kBf16) check(1e6F);
}

TEST(Number, SpecialValues) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(byte_from_float(ElementType::kFp8E4M3, 448), 0x7E);
  EXPECT_EQ(byte_from_float(ElementType::kFp8E4M3, -1e30F), 0xFE);
  EXPECT_EQ(byte_from_float(ElementType::kFp8E4M3, infinity), 0x7F);
  EXPECT_EQ(byte_from_float(ElementType::kFp8E5M2, 57344), 0x7B);
  EXPECT_EQ(byte_from_float(ElementType::kFp8E5M2, 1e30F), 0x7B);
  EXPECT_EQ(byte_from_float(ElementType::kFp8E5M2, -infinity), 0xFC);
  EXPECT_EQ(byte_from_float(ElementType::kFp8E5M2, std::nanf("")), 0x7E);
  EXPECT_EQ(bf16_from_float(3.4e38F), 0x7F80);  // its greatest is 3.39e38
  EXPECT_EQ(bf16_from_float(std::nanf("")), 0x7FC0);
  EXPECT_EQ(int8_from_float(std::nanf("")), 0);
}

TEST(Number, Int8RoundsToEvenAndSaturates) {
  for (int i = -300; i <= 300; ++i) {
    for (const double part : {-0.5, -0.25, 0.0, 0.25, 0.5}) {
      const double x = i + part;
      int expected = static_cast<int>(std::floor(x));
      const double over = x - expected;
      if (over > 0.5 || (over == 0.5 && expected % 2 != 0)) ++expected;
      EXPECT_EQ(int8_from_float(static_cast<float>(x)), std::min(std::max(expected, -127), 127)) << x;
    }
  }
}

TEST(Number, WhatRoundingLosesIsWithinItsBound) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> exponent(-30, 7), mantissa(-1, 1);
  for (const ElementType type :
       {ElementType::kFp16, ElementType::kBf16, ElementType::kFp8E4M3, ElementType::kFp8E5M2, ElementType::kInt8}) {
    const Rounding bound = rounding_of(type);
    double worst = 0;
    for (int i = 0; i < 200000; ++i) {
      const float x = std::ldexp(mantissa(random), static_cast<int>(exponent(random)));
      if (type == ElementType::kInt8 && std::abs(x) > 127) continue;
      std::uint16_t bits = 0;
      float back = 0;
      from_floats(type, &x, &bits, 1);
      floats_from(type, &bits, &back, 1);
      const double allowed = std::max(bound.relative * std::abs(double{x}), bound.least);
      const double lost = std::abs(double{back} - double{x});
      EXPECT_LE(lost, allowed) << x;
      worst = std::max(worst, lost / allowed);
    }
    EXPECT_GT(worst, 0.95);  // nor is the bound wider than it must be
  }
}

TEST(SoftCap, IsTheHyperbolicTangent) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> number(-8, 8), cap(0.5, 100);
  for (int i = 0; i < 100000; ++i) {
    const double c = cap(random), x = number(random) * c;
    EXPECT_NEAR(soft_cap(x, c), c * std::tanh(x / c), 1e-14 * c);
  }
  EXPECT_EQ(soft_cap(0, 50), 0);
  EXPECT_EQ(soft_cap(kInfinity, 50), 50);
  EXPECT_EQ(soft_cap(-1e300, 30), -30);
  EXPECT_TRUE(std::isnan(soft_cap(std::nan(""), 50)));
}

TEST(PackedTypes, AreTheirDefinition) {
  const float of_fp4[] = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6};  // OCP MX 1.0
  for (unsigned code = 0; code < 16; ++code) {
    const auto byte = static_cast<std::uint8_t>(code | (15 - code) << 4);  // the second element is its complement
    float fp4[2], int4[2];
    floats_from(ElementType::kFp4E2M1, &byte, fp4, 2);
    floats_from(ElementType::kInt4, &byte, int4, 2);
    const float magnitude = of_fp4[code & 7];
    EXPECT_EQ(fp4[0], code < 8 ? magnitude : -magnitude);
    EXPECT_EQ(int4[0], code < 8 ? static_cast<float>(code) : static_cast<float>(code) - 16);
    EXPECT_EQ(int4[1], -1 - int4[0]);
    for (const ElementType type : {ElementType::kFp4E2M1, ElementType::kInt4}) {
      std::uint8_t back = 0;
      from_floats(type, type == ElementType::kInt4 ? int4 : fp4, &back, 2);
      EXPECT_EQ(back, byte);
    }
  }
}

TEST(PackedTypes, RoundToNearestEvenAndSaturate) {
  const auto narrowed = [](ElementType type, float value) {
    std::uint8_t code = 0;
    from_floats(type, &value, &code, 1);
    float result = 0;
    floats_from(type, &code, &result, 1);
    return result;
  };
  const std::map<float, float> fp4 = {{0.25F, 0}, {0.26F, 0.5F}, {0.75F, 1}, {2.5F, 2}, {3.5F, 4},
                                      {5, 4},     {5.1F, 6},     {1e30F, 6}, {-7, -6}};
  for (const auto& [value, result] : fp4) EXPECT_EQ(narrowed(ElementType::kFp4E2M1, value), result) << value;
  const std::map<float, float> int4 = {{0.5F, 0}, {1.5F, 2}, {6.6F, 7}, {9, 7}, {-8.4F, -8}, {-20, -8}};
  for (const auto& [value, result] : int4) EXPECT_EQ(narrowed(ElementType::kInt4, value), result) << value;
  EXPECT_EQ(narrowed(ElementType::kInt4, std::nanf("")), 0);
}

TEST(PackedTypes, PowersOfTwo) {
  for (int exponent = -127; exponent <= 127; ++exponent) {
    const auto code = static_cast<std::uint8_t>(exponent + 127);
    EXPECT_EQ(float_from_e8m0(code), std::ldexp(1.0F, exponent));
    EXPECT_EQ(e8m0_from_float(std::ldexp(1.0F, exponent)), code);
  }
  EXPECT_TRUE(std::isnan(float_from_e8m0(255)));
  EXPECT_EQ(e8m0_from_float(3), e8m0_from_float(2));
}

// Products are rounded once, to the result's type.
TEST(Dequantisation, RoundsOnce) {
  const std::int8_t codes[] = {127, 127, -5};
  const Half scales[] = {half_from_float(0.0999756F), half_from_float(3)};
  for (const ElementType type : {ElementType::kFp16, ElementType::kBf16}) {
    std::uint16_t out[3];
    dequantise_row(ElementType::kInt8, codes,
                   {reinterpret_cast<const unsigned char*>(scales), sizeof(Half), ElementType::kFp16, 2, 1}, type, out,
                   3);
    const float exact[] = {127 * float_from_half(scales[0]), 127 * 3.0F, -15};
    for (std::size_t i = 0; i < 3; ++i) {
      std::uint16_t expected = 0;
      from_floats(type, &exact[i], &expected, 1);
      EXPECT_EQ(out[i], expected) << i;
    }
  }
}

}  // namespace
}  // namespace attnvp::arith
