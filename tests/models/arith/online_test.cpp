// One-pass softmax steps against their definition and against double precision.
#include "models/arith/online.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "models/arith/isa.h"

namespace attnvp::arith {
namespace {

constexpr Half kMinusInfinity = kHalfInfinity | kHalfSign;

std::uint32_t bits(float f) {
  std::uint32_t b;
  std::memcpy(&b, &f, sizeof b);
  return b;
}
constexpr std::uint32_t kFloatNan = 0x7FC00000;

TEST(Online, MaximumOrdersEveryPattern) {
  for (std::uint32_t a = 0; a < 65536; a += 7) {
    for (const Half b : {Half{0}, kHalfSign, kHalfOne, kHalfInfinity, kMinusInfinity, kHalfMax, Half{1}}) {
      const Half h = running_max(static_cast<Half>(a), b);
      if (is_nan(static_cast<Half>(a))) {
        EXPECT_EQ(h, kHalfNan);
        continue;
      }
      EXPECT_EQ(float_from_half(h), std::max(float_from_half(static_cast<Half>(a)), float_from_half(b)));
      EXPECT_EQ(running_max(b, static_cast<Half>(a)), h);
    }
  }
  EXPECT_EQ(running_max(kHalfSign, 0), 0);  // -0 < +0
  const std::vector<Half> row = {kHalfSign, 0x3C00, 0xBC00, kHalfNan};
  EXPECT_EQ(row_max(row.data(), 3), 0x3C00);
  EXPECT_EQ(row_max(row.data(), 4), kHalfNan);
  EXPECT_EQ(row_max(row.data(), 1), kHalfSign);
}

// What golden.h counts on: of all differences up to 32 nats.
TEST(Online, StepError) {
  double worst = 0;
  for (std::uint32_t d = 0; d < kSoftmaxMaxDifference; ++d) {
    const ExpTerm e = exp_step(d);
    const double value = std::ldexp(e.mantissa, -15 - e.shift);
    worst = std::max(worst, std::abs(value * std::exp(d * 0x1p-14) - 1));
  }
  EXPECT_LT(worst, kExpStepError);
  EXPECT_GT(worst, 0.8 * kExpStepError);
}

// Every FP16 below a maximum: P within the table's error and one rounding, scale within the table's error, and the two
// built from the same step.
TEST(Online, ExponentialsOfAllPatterns) {
  for (const Half top : {kHalfOne, kHalfMax, Half{0}, Half{0x2801}, Half{0xC900}, Half{0x4C40}}) {
    for (std::uint32_t p = 0; p < 65536; ++p) {
      const auto x = static_cast<Half>(p);
      if (!is_finite(x) || float_from_half(x) > float_from_half(top)) continue;
      Half e;
      const float sum = exp_row(&x, &e, 1, top);
      const double exact = std::exp(double_from_half(x) - double_from_half(top));
      const double bound = kExpRelativeError * exact + 1e-12;  // nothing below 2^-40
      EXPECT_NEAR(exp_scale(x, top), exact, bound);
      EXPECT_NEAR(sum, exact, bound);
      EXPECT_NEAR(double_from_half(e), exact, bound + exact * 0x1p-11 + 0x1p-25);
    }
  }
}

TEST(Online, SpecialValues) {
  const std::vector<Half> row = {kMinusInfinity, kHalfOne, 0};
  std::vector<Half> out(3);
  const float sum = exp_row(row.data(), out.data(), 3, kHalfOne);
  EXPECT_EQ(out[0], 0);
  EXPECT_EQ(out[1], kHalfOne);
  EXPECT_NEAR(sum, 1 + std::exp(-1.0), 1e-4);
  EXPECT_EQ(bits(exp_scale(kMinusInfinity, kHalfOne)), 0U);
  EXPECT_EQ(exp_scale(kHalfOne, kHalfOne), 1.0F);
  EXPECT_EQ(exp_scale(0xFBFF, kHalfMax), 0.0F);  // -65504 to 65504
  EXPECT_EQ(exp_row(row.data(), out.data(), 1, kMinusInfinity), 0.0F);
  EXPECT_EQ(out[0], 0);
  EXPECT_EQ(bits(exp_scale(kMinusInfinity, kMinusInfinity)), 0U);
  for (const Half top : {kHalfInfinity, kHalfNan}) {
    EXPECT_EQ(bits(exp_row(row.data(), out.data(), 3, top)), kFloatNan);
    EXPECT_EQ(out, std::vector<Half>(3, kHalfNan));
    EXPECT_EQ(bits(exp_scale(kHalfOne, top)), kFloatNan);
  }
  float x = std::numeric_limits<float>::infinity();
  const float z = -x;
  scale_add_row(&x, 1, &z, 1);
  EXPECT_EQ(bits(x), kFloatNan);
  float zero = 0;
  Half o;
  divide_row(&zero, 0, &o, 1);
  EXPECT_EQ(o, kHalfNan);
}

// Rows cut into tiles anywhere, and merged from two parts: the ratio is the softmax-weighted mean.
TEST(Online, TilesAndMergesGiveTheWeightedMean) {
  std::mt19937 random(7);
  Workspace workspace;
  for (int round = 0; round < 300; ++round) {
    const std::size_t n = 1 + random() % 700;
    const double spread = round % 3 == 0 ? 60000.0 : 4.0;
    std::vector<Half> s(n), v(n);
    double top = -1e9;
    for (std::size_t j = 0; j < n; ++j) {
      s[j] = half_from_double((static_cast<double>(random() % 20001) / 10000 - 1) * spread);
      v[j] = half_from_double(static_cast<double>(random() % 20001) / 10000 - 1);
      top = std::max(top, double_from_half(s[j]));
    }
    double l = 0, o = 0;
    for (std::size_t j = 0; j < n; ++j) {
      l += std::exp(double_from_half(s[j]) - top);
      o += std::exp(double_from_half(s[j]) - top) * double_from_half(v[j]);
    }
    // R = {numerator, denominator} of two halves, each tile by tile.
    const std::size_t middle = n / 2;
    Half m[2] = {0, 0};
    float r[2][2] = {};
    for (int part = 0; part < 2; ++part) {
      const std::size_t end = part == 0 ? middle : n;
      bool first = true;
      for (std::size_t begin = part == 0 ? 0 : middle; begin < end;) {
        const std::size_t size = std::min<std::size_t>(end - begin, 1 + random() % 100);
        std::vector<Half> p(size);
        const Half local = row_max(s.data() + begin, size);
        const Half now = first ? local : running_max(m[part], local);
        float t[2] = {0, exp_row(s.data() + begin, p.data(), size, now)};
        for (std::size_t j = 0; j < size; ++j) t[0] += float_from_half(p[j]) * float_from_half(v[begin + j]);
        if (first) {
          std::copy(t, t + 2, r[part]);
        } else {
          scale_add_row(r[part], exp_scale(m[part], now), t, 2);
        }
        m[part] = now;
        first = false;
        begin += size;
      }
    }
    if (middle == 0) {
      std::copy(r[1], r[1] + 2, r[0]);
    } else {
      const Half now = running_max(m[0], m[1]);
      scale_add_row(r[0], exp_scale(m[0], now), r[1], exp_scale(m[1], now), 2);
    }
    Half out;
    divide_row(r[0], r[0][1], &out, 1);
    EXPECT_NEAR(double_from_half(out), o / l, 3e-3) << round;
  }
}

TEST(Online, VariantsAgree) {
  std::mt19937 random(3);
  for (std::size_t n : {1U, 7U, 64U, 333U}) {
    std::vector<Half> in(n), fast(n), slow(n);
    for (Half& h : in) h = static_cast<Half>(random());
    const Half top = 0x4800;
    const float sum = exp_row(in.data(), fast.data(), n, top);
    std::uint64_t exact = 0;
    for (std::size_t j = 0; j < n; ++j) {
      const std::uint32_t d =
          static_cast<std::uint32_t>(fixed_from_half(top)) - static_cast<std::uint32_t>(fixed_from_half(in[j]));
      slow[j] = normalise(exp_step(d), {1U << 16, 0});
      exact += sum_term(exp_step(d));
    }
    EXPECT_EQ(fast, slow);
    EXPECT_EQ(sum, std::ldexp(static_cast<float>(exact), -40));
  }
}

// A denominator relative to a maximum below, at and above the sink.
TEST(Online, SinkJoinsTheDenominator) {
  for (const double maximum : {-6.0, -0.5, 0.0, 0.5, 7.25}) {
    for (const double sink : {-4.0, 0.0, 0.5, 4.0}) {
      const float l = with_sink(3.5F, half_from_double(maximum), half_from_double(sink));
      const double exact = 3.5 + std::exp(sink - maximum);
      EXPECT_NEAR(static_cast<double>(l), exact, kExpRelativeError * exact) << maximum << " " << sink;
    }
  }
  EXPECT_EQ(with_sink(2, 0, 0), 3);
  EXPECT_EQ(with_sink(2, half_from_double(60), 0), 2);  // no term
  EXPECT_TRUE(std::isinf(with_sink(2, 0, half_from_double(60))));
  EXPECT_TRUE(std::isinf(with_sink(0, kMinusInfinity, 0)));  // only masked keys
  EXPECT_EQ(bits(with_sink(2, kHalfNan, 0)), kFloatNan);
  EXPECT_EQ(bits(with_sink(2, kHalfInfinity, 0)), kFloatNan);
}

}  // namespace
}  // namespace attnvp::arith
