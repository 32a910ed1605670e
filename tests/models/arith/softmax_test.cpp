#include "models/arith/softmax.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "models/arith/isa.h"

namespace attnvp::arith {
namespace {

constexpr Half kMinusInfinity = kHalfInfinity | kHalfSign;

std::vector<double> exact_softmax(const std::vector<Half>& in) {
  double top = -HUGE_VAL;
  for (const Half x : in) top = std::max(top, double_from_half(x));
  std::vector<double> out;
  double sum = 0.0;
  for (const Half x : in) sum += out.emplace_back(std::exp(double_from_half(x) - top));
  for (double& p : out) p /= sum;
  return out;
}

std::vector<Half> reference(const std::vector<Half>& in) {
  std::vector<Half> out(in.size());
  softmax_row_reference(in.data(), out.data(), in.size());
  return out;
}

// The fast implementation in all variants, apart and in place, must be the reference bit for bit.
void expect_variants_equal(const std::vector<Half>& in, const std::vector<Half>& expected) {
  static Workspace workspace;
  for (const Isa isa : {Isa::kPortable, Isa::kAvx2}) {
    if (!isa_available(isa)) continue;
    set_isa(isa);
    std::vector<Half> out(in.size() + 1, 0x1234), in_place = in;
    softmax_row(in.data(), out.data(), in.size(), workspace);
    ASSERT_EQ(out.back(), 0x1234);
    out.pop_back();
    softmax_row(in_place.data(), in_place.data(), in.size(), workspace);
    ASSERT_EQ(out, expected);
    ASSERT_EQ(in_place, expected);
  }
}

void expect_good(const std::vector<Half>& in) {
  const std::vector<Half> p = reference(in);
  const std::vector<double> exact = exact_softmax(in);
  int worst_ulp = 0;
  double worst = 0.0;  // before the rounding to FP16, in units of what the header promises
  for (std::size_t i = 0; i < in.size(); ++i) {
    worst_ulp = std::max(worst_ulp, ulp_distance(p[i], half_from_double(exact[i])));
    const double bound = kSoftmaxRelativeError * exact[i];
    const double rounding = std::max(0x1p-11 * (exact[i] + bound), 0x1p-25);
    worst = std::max(worst, (std::abs(double_from_half(p[i]) - exact[i]) - rounding) / bound);
  }
  EXPECT_LE(worst_ulp, 1) << "length " << in.size();
  EXPECT_LE(worst, 1.0) << "length " << in.size();
  expect_variants_equal(in, p);
}

std::vector<Half> normal_row(std::mt19937& random, std::size_t n, double stddev, double mean = 0.0) {
  std::normal_distribution<double> distribution(mean, stddev);
  std::vector<Half> row(n);
  for (Half& x : row) x = half_from_double(std::clamp(distribution(random), -65504.0, 65504.0));
  return row;
}

TEST(SoftmaxSteps, FixedPointIsRoundedToNearestEven) {
  for (std::uint32_t i = 0; i < 65536; ++i) {
    const auto h = static_cast<Half>(i);
    if (!is_finite(h)) continue;
    ASSERT_EQ(fixed_from_half(h), static_cast<std::int32_t>(std::nearbyint(double_from_half(h) * 16384))) << i;
  }
  EXPECT_EQ(fixed_from_half(kMinusInfinity), INT32_MIN);
}

TEST(SoftmaxSteps, TableFollowsItsFormula) {
  const double bow = std::pow(std::log(2.0) / 64, 2) / 16;
  for (std::size_t i = 0; i < kExp2Table.size(); ++i) {
    const double y = 32768 * std::exp2(static_cast<double>(i) / 64);
    const double next = 32768 * std::exp2(static_cast<double>(i + 1) / 64);
    const auto slope = static_cast<std::uint32_t>(std::lround(4096 * (next - y) / 1024));
    const auto base = static_cast<std::uint32_t>(std::lround(16 * (y - y * bow + 0.5)));
    EXPECT_EQ(kExp2Table[i], base << 12 | slope) << i;
  }
}

TEST(SoftmaxSteps, ExponentialIsAccurateAndMonotonic) {
  double previous = 2.0;
  double worst = 0.0;
  for (std::uint32_t d = 0; d <= kSoftmaxMaxDifference; ++d) {
    const ExpTerm term = exp_step(d);
    ASSERT_TRUE((term.mantissa & 0x8000) != 0 && term.shift <= 47) << d;
    const double value = std::ldexp(term.mantissa, -15 - term.shift);
    ASSERT_LE(value, previous) << d;
    previous = value;
    if (d < 18 * 16384) worst = std::max(worst, std::abs(value / std::exp(d / -16384.0) - 1));
  }
  EXPECT_LT(worst, 3.1e-5);
  EXPECT_EQ(exp_step(0).mantissa, 0x8000);
  EXPECT_EQ(exp_step(0).shift, 0);
  EXPECT_EQ(sum_term(exp_step(0)), std::uint64_t{1} << 40);
  EXPECT_EQ(sum_term(exp_step(0xFFFFFFFF)), 0U);
}

TEST(SoftmaxSteps, ReciprocalHas16Bits) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 100000; ++i) {
    const std::uint64_t sum = (std::uint64_t{1} << 63 | random()) >> (i % 24);
    const Reciprocal r = reciprocal(sum);
    ASSERT_TRUE(r.value >= 32768 && r.value <= 65536 && r.exponent < 24);
    const double product = std::ldexp(r.value, -16 - static_cast<int>(r.exponent)) * std::ldexp(sum, -40);
    ASSERT_NEAR(product, 1.0, 1.6e-5) << sum;
  }
  EXPECT_EQ(reciprocal(std::uint64_t{1} << 40).value, 65536U);
  EXPECT_EQ(reciprocal(~std::uint64_t{0}).exponent, 23U);
}

TEST(SoftmaxSteps, NormaliseRoundsOnceToNearestEven) {
  std::mt19937 random(4);
  for (int i = 0; i < 300000; ++i) {
    const ExpTerm term{static_cast<std::uint16_t>(0x8000 | random()), static_cast<std::uint8_t>(random() % 48)};
    const auto bits = static_cast<std::uint32_t>(random());
    const Reciprocal r{32768 + (bits >> 8) % 32769, bits % 24};
    const int scale = 31 + term.shift + static_cast<int>(r.exponent);
    const double exact = std::ldexp(static_cast<double>(std::uint64_t{term.mantissa} * r.value), -scale);
    ASSERT_EQ(normalise(term, r), half_from_double(exact));
  }
}

TEST(Softmax, RandomRowsWithinOneUlp) {
  std::mt19937 random(5);
  for (int i = 0; i < 2000; ++i) {
    const double stddev = std::exp2(static_cast<int>(random() % 26) - 10);
    const double mean = random() % 3 == 0 ? 1000.0 : 0.0;
    expect_good(normal_row(random, 1 + random() % 700, stddev, mean));
  }
}

TEST(Softmax, AllFinitePatterns) {
  std::mt19937 random(6);
  for (int i = 0; i < 500; ++i) {
    std::vector<Half> row(1 + random() % 300);
    for (Half& x : row) {
      do x = static_cast<Half>(random());
      while (!is_finite(x));
    }
    expect_good(row);
  }
  expect_good({kHalfMax, kHalfMax | kHalfSign});
  expect_good({kHalfMax | kHalfSign, kHalfMax | kHalfSign});
  expect_good({1, kHalfSign, 0, 0x8001});
}

TEST(Softmax, LongRows) {
  std::mt19937 random(7);
  for (const std::size_t n : {4096, 65537, 1 << 20}) {
    for (const double stddev : {0.0, 0.01, 1.0, 4.0}) expect_good(normal_row(random, n, stddev));
    // The worst case for the truncated terms of the sum: one great element, all others far below.
    std::vector<Half> row(n, half_from_float(-21.5F));
    row[n / 2] = 0;
    expect_good(row);
  }
}

// Within one ulp for every n, as all rows; exactly rounded for powers of two.
TEST(Softmax, EqualValuesGiveOneOverN) {
  for (std::size_t n = 1; n < 1500; ++n) {
    const std::vector<Half> row(n, half_from_float(-3.25F));
    const std::vector<Half> expected(n, half_from_double(1.0 / static_cast<double>(n)));
    if ((n & (n - 1)) == 0) {
      ASSERT_EQ(reference(row), expected) << n;
    }
    expect_good(row);
  }
  EXPECT_EQ(reference({kHalfMax}), std::vector<Half>{kHalfOne});
  EXPECT_EQ(reference({kHalfMax | kHalfSign}), std::vector<Half>{kHalfOne});
}

TEST(Softmax, SpecialRows) {
  const auto expect = [](const std::vector<Half>& in, const std::vector<Half>& out) {
    EXPECT_EQ(reference(in), out);
    expect_variants_equal(in, out);
  };
  expect({}, {});
  for (const Half bad : {kHalfNan, Half{0xFE00}, Half{0x7C01}, Half{0xFFFF}, kHalfInfinity}) {
    for (std::size_t at = 0; at < 67; at += 3) {
      std::vector<Half> row(67, kHalfOne);
      row[at] = bad;
      row[(at + 1) % 67] = kMinusInfinity;
      expect(row, std::vector<Half>(67, kHalfNan));
    }
  }
  expect({kMinusInfinity}, {kHalfNan});
  expect(std::vector<Half>(40, kMinusInfinity), std::vector<Half>(40, kHalfNan));
  expect({kMinusInfinity, 0, kMinusInfinity, 0}, {0, 0x3800, 0, 0x3800});
  expect({kMinusInfinity, kHalfMax | kHalfSign}, {0, kHalfOne});
  expect({kHalfMax, kMinusInfinity}, {kHalfOne, 0});
}

// By hand: a sink of ln 2 beside two scores of 0 gives 1 / (2 + 1 + 1) each; ln 2 is 0x398C in FP16.
TEST(Softmax, SinkIsOneMoreTermOfTheSum) {
  const auto with = [](const std::vector<Half>& in, Half sink) {
    std::vector<Half> out(in.size()), fast(in.size());
    Workspace workspace;
    softmax_row_reference(in.data(), out.data(), in.size(), &sink);
    softmax_row(in.data(), fast.data(), in.size(), workspace, &sink);
    EXPECT_EQ(out, fast);
    return out;
  };
  for (const Half p : with({0, 0}, 0x398C)) EXPECT_NEAR(double_from_half(p), 0.25, 0.25 * 0x1p-11);
  EXPECT_EQ(with({0, 0, 0}, 0), std::vector<Half>(3, 0x3400));         // a quarter
  EXPECT_EQ(with({kHalfOne}, kMinusInfinity), reference({kHalfOne}));  // its term is 0
  EXPECT_EQ(with({kMinusInfinity, kMinusInfinity}, kHalfOne), std::vector<Half>(2, 0));
  EXPECT_EQ(with({0}, kHalfMax), std::vector<Half>{0});
  EXPECT_EQ(with({kHalfNan, 0}, 0), std::vector<Half>(2, kHalfNan));
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<Half> row(1 + random() % 70);
    for (Half& h : row) h = half_from_double((static_cast<double>(random() % 4001) - 2000) / 250);
    const Half sink = half_from_double((static_cast<double>(random() % 4001) - 2000) / 250);
    double sum = std::exp(double_from_half(sink));
    for (const Half h : row) sum += std::exp(double_from_half(h));
    const std::vector<Half> p = with(row, sink);
    for (std::size_t j = 0; j < row.size(); ++j) {
      const double exact = std::exp(double_from_half(row[j])) / sum;
      EXPECT_NEAR(double_from_half(p[j]), exact, exact * (kSoftmaxRelativeError + 0x1p-11) + 0x1p-25);
    }
  }
}

}  // namespace
}  // namespace attnvp::arith
