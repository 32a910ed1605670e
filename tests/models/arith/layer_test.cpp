// What a layer does between its products: the definitions of models/arith/layer.h against the C++ library and against
// sums in double.
#include "models/arith/layer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace attnvp::arith {
namespace {

using hal::Activation;

TEST(Layer, ExponentialIsThatOfTheLibrary) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> wide(-700, 700), near(-1, 1);
  for (int i = 0; i < 400000; ++i) {
    const double x = i % 2 == 0 ? wide(random) : near(random);
    ASSERT_NEAR(exp_of(x) / std::exp(x), 1, 1e-14) << x;
  }
  EXPECT_EQ(exp_of(0), 1);
  EXPECT_EQ(exp_of(-800), 0);
  EXPECT_EQ(exp_of(710), std::numeric_limits<double>::infinity());
}

TEST(Layer, ErrorFunctionIsThatOfTheLibrary) {
  for (int i = -80000; i <= 80000; ++i) {
    const double x = i / 10000.0;
    ASSERT_NEAR(erf_of(x), std::erf(x), 1e-14) << x;
  }
  EXPECT_EQ(erf_of(1e300), 1);
  EXPECT_EQ(erf_of(-1e300), -1);
}

long double exact(Activation f, long double x) {
  constexpr long double kPi = 3.14159265358979323846L;
  switch (f) {
    case Activation::kRelu:
      return x > 0 ? x : 0;
    case Activation::kSilu:
      return x / (1 + std::exp(-x));
    case Activation::kGelu:
      return x / 2 * std::erfc(-x / std::sqrt(2.0L));
    case Activation::kGeluTanh:
      return x / 2 * (1 + std::tanh(std::sqrt(2 / kPi) * (x + 0.044715L * x * x * x)));
  }
  return x;
}

// All FP16 numbers, within half a unit of FP32 and what double loses.
TEST(Layer, ActivationsAreWithinTheirError) {
  for (const Activation f : {Activation::kRelu, Activation::kSilu, Activation::kGelu, Activation::kGeluTanh}) {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      const auto x = static_cast<Half>(bits);
      const float y = activation(f, x);
      if (is_nan(x)) {
        ASSERT_TRUE(std::isnan(y));
        continue;
      }
      if (!is_finite(x)) continue;
      const long double value = double_from_half(x), expected = exact(f, value);
      const double tolerance =
          static_cast<double>(0x1.01p-24L * std::abs(expected) + kActivationError * std::abs(value));
      ASSERT_NEAR(y, static_cast<double>(expected), tolerance)
          << static_cast<int>(f) << " of " << static_cast<double>(value);
    }
    EXPECT_EQ(activation(f, kHalfInfinity), std::numeric_limits<float>::infinity());
  }
}

std::vector<Half> some(std::size_t n, std::uint32_t seed, double mean = 0, double deviation = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(mean, deviation);
  std::vector<Half> x(n);
  for (Half& h : x) h = half_from_double(normal(random));
  return x;
}

std::vector<float> floats(const std::vector<Half>& x) {
  std::vector<float> all(x.size());
  floats_from_halves(x.data(), all.data(), x.size());
  return all;
}

// Statistics are exact but for a rounding to FP32, so that the order of a row does not matter, and a great mean takes
// nothing from a small deviation.
TEST(Layer, NormsAreThoseOfDoubles) {
  for (const auto& [n, mean, deviation] : {std::tuple{1U, 0.0, 1.0},
                                           {2U, 0.0, 1.0},
                                           {768U, 0.0, 1.0},
                                           {768U, 1000.0, 1.0},
                                           {4096U, 3.0, 1e-3},
                                           {333U, 0.0, 1e4}}) {
    const std::vector<Half> x = some(n, n, mean, deviation);
    const std::vector<float> gamma = floats(some(n, 7, 1, 0.3)), beta = floats(some(n, 8));
    for (const bool centred : {false, true}) {
      std::vector<Half> y(n);
      norm_row(x.data(), y.data(), n, {gamma.data(), centred ? beta.data() : nullptr}, 1e-5F);
      double m = 0, squares = 0;
      for (const Half h : x) m += double_from_half(h) / n;
      if (!centred) m = 0;
      for (const Half h : x) squares += std::pow(double_from_half(h) - m, 2) / n;
      const double r = 1 / std::sqrt(squares + 1e-5);
      for (std::size_t j = 0; j < n; ++j) {
        const double d = double_from_half(x[j]) - m, expected = d * r * gamma[j] + (centred ? beta[j] : 0);
        const double added =
            1.01 * 0x1p-24 * (std::abs(gamma[j]) * r * (std::abs(m) + 5 * std::abs(d)) + std::abs(expected));
        ASSERT_NEAR(double_from_half(y[j]), expected, added + 0x1p-11 * (std::abs(expected) + added) + 0x1p-25)
            << n << " " << j;
      }
      std::vector<Half> back(x.rbegin(), x.rend()), of_back(n);
      const std::vector<float> ones(n, 1), none(n, 0);
      norm_row(x.data(), y.data(), n, {ones.data(), centred ? none.data() : nullptr}, 1e-5F);
      norm_row(back.data(), of_back.data(), n, {ones.data(), centred ? none.data() : nullptr}, 1e-5F);
      EXPECT_EQ(std::vector<Half>(of_back.rbegin(), of_back.rend()), y);
    }
  }
}

TEST(Layer, NormsOfSpecialRows) {
  const std::vector<float> ones(4, 1), none(4, 0);
  std::vector<Half> y(4);
  const std::vector<Half> same(4, kHalfMax), zeros(4, 0);
  norm_row(same.data(), y.data(), 4, {ones.data(), none.data()}, 1e-5F);
  EXPECT_EQ(y, zeros);  // the variance is 0 to the last bit
  norm_row(zeros.data(), y.data(), 4, {ones.data(), nullptr}, 1e-5F);
  EXPECT_EQ(y, zeros);
  for (const Half odd : {kHalfInfinity, kHalfNan}) {
    const std::vector<Half> row = {kHalfOne, odd, 0, 0};
    norm_row(row.data(), y.data(), 4, {ones.data(), nullptr}, 1e-5F);
    EXPECT_EQ(y, std::vector<Half>(4, kHalfNan));
  }
}

// In place as well as apart.
TEST(Layer, SumsAndProductsAreRoundedOnce) {
  const std::size_t n = 2000;
  const std::vector<Half> x = some(n, 1, 0, 30), z = some(n, 2);
  std::vector<Half> y(n), in_place = x;
  add_row(x.data(), z.data(), y.data(), n);
  add_row(in_place.data(), z.data(), in_place.data(), n);
  for (std::size_t j = 0; j < n; ++j)
    ASSERT_EQ(y[j], half_from_double(double_from_half(x[j]) + double_from_half(z[j])));
  EXPECT_EQ(in_place, y);
  for (const bool gated : {false, true}) {
    activate_row(Activation::kSilu, x.data(), gated ? z.data() : nullptr, y.data(), n);
    for (std::size_t j = 0; j < n; ++j) {
      const float f = activation(Activation::kSilu, x[j]);
      ASSERT_EQ(y[j], half_from_float(gated ? f * float_from_half(z[j]) : f));
    }
  }
}

// Each pair keeps its length, and a turn back gives what was.
TEST(Layer, RotationsTurn) {
  const std::size_t head = 8, n = 5 * head;
  const std::vector<Half> x = some(n, 3);
  std::vector<Half> there(head), back(head), y(n), again(n);
  for (std::size_t i = 0; i < head / 2; ++i) {
    const double angle = 0.7 * static_cast<double>(i + 1);
    there[i] = back[i] = half_from_double(std::cos(angle));
    there[head / 2 + i] = half_from_double(std::sin(angle));
    back[head / 2 + i] = half_from_double(-std::sin(angle));
  }
  rotate_row(x.data(), there.data(), y.data(), n, head);
  rotate_row(y.data(), back.data(), again.data(), n, head);
  std::vector<Half> in_place = x;
  rotate_row(in_place.data(), there.data(), in_place.data(), n, head);
  EXPECT_EQ(in_place, y);
  for (std::size_t j = 0; j < n; ++j) EXPECT_NEAR(double_from_half(again[j]), double_from_half(x[j]), 0.01);
  const double c = double_from_half(there[1]), s = double_from_half(there[5]);
  EXPECT_NEAR(double_from_half(y[9]), double_from_half(x[9]) * c - double_from_half(x[13]) * s, 0.002);
  EXPECT_NEAR(double_from_half(y[13]), double_from_half(x[9]) * s + double_from_half(x[13]) * c, 0.002);
}

}  // namespace
}  // namespace attnvp::arith
