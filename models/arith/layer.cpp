#include "models/arith/layer.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace attnvp::arith {

namespace {

using hal::Activation;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

double value_of(Activation f, double x) {
  constexpr double kRootOfHalf = 0.70710678118654752440, kRootOfTwoOverPi = 0.79788456080286535588;
  switch (f) {
    case Activation::kRelu:
      return x > 0 ? x : 0;
    case Activation::kSilu:
      return x / (1 + exp_of(-x));
    case Activation::kGelu:
      return x / 2 * (1 + erf_of(x * kRootOfHalf));
    case Activation::kGeluTanh:  // 1 + tanh y = 2 / (1 + e^-2y)
      return x / (1 + exp_of(-2 * kRootOfTwoOverPi * (x + 0.044715 * x * x * x)));
  }
  return x;
}

using HalfTable = std::vector<float>;  // one entry per FP16 number

HalfTable table_of(Activation f) {
  HalfTable table(std::size_t{1} << 16);
  for (std::size_t bits = 0; bits < table.size(); ++bits) {
    const double x = double_from_half(static_cast<Half>(bits));
    const double y = std::isnan(x) ? x : value_of(f, x);
    table[bits] = std::isnan(y) ? kNan : static_cast<float>(y);
  }
  return table;
}

const HalfTable& activations(Activation f) {
  static const std::array<HalfTable, 4> all = {table_of(Activation::kRelu), table_of(Activation::kSilu),
                                               table_of(Activation::kGelu), table_of(Activation::kGeluTanh)};
  return all[static_cast<std::size_t>(f)];
}

// Exact value in units of 2^-24, below 2^40.
std::int64_t fixed_of(Half x) {
  const std::uint32_t exponent = x >> 10 & 31U;
  const std::int64_t significand = (x & 0x3FF) | (exponent != 0 ? 0x400 : 0);
  const std::int64_t magnitude = significand << (exponent != 0 ? exponent - 1 : 0);
  return (x & kHalfSign) != 0 ? -magnitude : magnitude;
}

struct Statistics {
  float mean, scale;
};
Statistics statistics_of(const Half* in, std::size_t n, bool centred, float epsilon) {
  std::int64_t sum = 0;
  __uint128_t squares = 0;
  for (std::size_t j = 0; j < n; ++j) {
    if (!is_finite(in[j])) return {kNan, kNan};
    const std::int64_t x = fixed_of(in[j]);
    sum += x;
    squares += static_cast<__uint128_t>(static_cast<__int128_t>(x) * x);
  }
  const auto count = static_cast<double>(n);
  double mean = 0, variance = 0;
  if (centred) {
    const auto square_of_sum = static_cast<__uint128_t>(static_cast<__int128_t>(sum) * sum);
    mean = static_cast<double>(sum) * 0x1p-24 / count;
    variance = static_cast<double>(n * squares - square_of_sum) * 0x1p-48 / (count * count);
  } else {
    variance = static_cast<double>(squares) * 0x1p-48 / count;
  }
  const float under_root = static_cast<float>(variance) + epsilon;
  return {static_cast<float>(mean), static_cast<float>(1 / std::sqrt(static_cast<double>(under_root)))};
}

}  // namespace

double exp_of(double x) {
  constexpr double kLog2E = 1.44269504088896340736, kLn2High = 6.93147180369123816490e-01,
                   kLn2Low = 1.90821492927058770002e-10;  // the first has 32 bits
  constexpr int kTerms = 14;
  if (x > 709.7) return std::numeric_limits<double>::infinity();
  if (x < -745) return 0;
  const double k = std::floor(x * kLog2E + 0.5);
  const double r = (x - k * kLn2High) - k * kLn2Low;  // |r| <= ln 2 / 2
  double sum = 1;
  for (int i = kTerms; i > 0; --i) sum = 1 + r / i * sum;
  return std::ldexp(sum, static_cast<int>(k));
}

// Series of positive terms: 2 / sqrt(pi) e^(-x^2) (x + x^3 2/3 + x^5 2^2/(3 5) + ...).
double erf_of(double x) {
  constexpr double kTwoOverRootOfPi = 1.12837916709551257390, kFlat = 6;  // beyond it erf is 1, to 53 bits
  const double z = std::abs(x);
  if (z >= kFlat) return x < 0 ? -1 : 1;
  double term = z, sum = z;
  for (int odd = 3; term > sum * 1e-18; odd += 2) {
    term *= 2 * z * z / odd;
    sum += term;
  }
  const double y = kTwoOverRootOfPi * exp_of(-z * z) * sum;
  return x < 0 ? -y : y;
}

float activation(Activation f, Half x) { return activations(f)[x]; }

void norm_row(const Half* in, Half* out, std::size_t n, const NormVectors& vectors, float epsilon) {
  const bool centred = vectors.beta != nullptr;
  const Statistics s = statistics_of(in, n, centred, epsilon);
  for (std::size_t j = 0; j < n; ++j) {
    const float x = float_from_half(in[j]);
    const float y = (centred ? x - s.mean : x) * s.scale * vectors.gamma[j];
    out[j] = half_from_float(centred ? y + vectors.beta[j] : y);
  }
}

void add_row(const Half* x, const Half* z, Half* out, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) out[j] = half_from_float(float_from_half(x[j]) + float_from_half(z[j]));
}

void activate_row(Activation f, const Half* in, const Half* z, Half* out, std::size_t n) {
  const HalfTable& table = activations(f);
  for (std::size_t j = 0; j < n; ++j) {
    const float y = table[in[j]];
    out[j] = half_from_float(z == nullptr ? y : y * float_from_half(z[j]));
  }
}

void rotate_row(const Half* in, const Half* angles, Half* out, std::size_t n, std::size_t head) {
  const std::size_t half = head / 2;
  for (std::size_t first = 0; first + head <= n; first += head) {
    for (std::size_t i = 0; i < half; ++i) {
      const float x = float_from_half(in[first + i]), y = float_from_half(in[first + half + i]);
      const float c = float_from_half(angles[i]), s = float_from_half(angles[half + i]);
      out[first + i] = half_from_float(x * c - y * s);
      out[first + half + i] = half_from_float(x * s + y * c);
    }
  }
}

}  // namespace attnvp::arith
