#include "platform/run/golden/golden_kernels.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "models/arith/isa.h"

// Vectors are passed to inlined functions only.
#pragma GCC diagnostic ignored "-Wpsabi"
#define ATTNVP_BODY inline __attribute__((always_inline))

namespace attnvp::job {
namespace {

// With shorter registers the compiler uses several.
typedef double Double4 __attribute__((vector_size(32)));
typedef double AnywhereDouble4 __attribute__((vector_size(32), aligned(8), may_alias));
typedef std::int64_t Long4 __attribute__((vector_size(32)));
constexpr std::size_t kLanes = 4;

ATTNVP_BODY Double4 load(const double* from) { return *reinterpret_cast<const AnywhereDouble4*>(from); }
ATTNVP_BODY void store(double* to, Double4 x) { *reinterpret_cast<AnywhereDouble4*>(to) = x; }

ATTNVP_BODY Double4 larger(Double4 a, Double4 b) { return a > b ? a : b; }
ATTNVP_BODY Double4 smaller(Double4 a, Double4 b) { return a < b ? a : b; }
ATTNVP_BODY Double4 magnitude(Double4 x) { return x < 0 ? -x : x; }
ATTNVP_BODY Double4 all(double x) { return Double4{x, x, x, x}; }
ATTNVP_BODY double largest(Double4 x) { return std::fmax(std::fmax(x[0], x[1]), std::fmax(x[2], x[3])); }
ATTNVP_BODY double total(Double4 x) { return (x[0] + x[1]) + (x[2] + x[3]); }

// For -708 < x < 708, relative error 3e-13: 2^n times the Taylor series of the rest, at most ln 2 / 2.
ATTNVP_BODY Double4 exponential(Double4 x) {
  constexpr double kShift = 0x1.8p52;  // adding it rounds to an integer, in the low bits
  const Double4 shifted = x * 0x1.71547652b82fep0 + kShift;
  const Double4 n = shifted - kShift;
  const Double4 r = (x - n * 0x1.62e42fefa3800p-1) - n * 0x1.ef35793c76730p-45;
  constexpr double kTerms[] = {1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120,
                               1.0 / 24,      1.0 / 6,      0.5,         1.0,        1.0};
  Double4 e = all(kTerms[0]);
#pragma GCC unroll 16
  for (std::size_t i = 1; i < sizeof kTerms / sizeof kTerms[0]; ++i) e = e * r + kTerms[i];
  Long4 bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  bits = (bits + 1023) << 52;
  Double4 power;
  std::memcpy(&power, &bits, sizeof power);
  return e * power;
}

ATTNVP_BODY double greatest_body(const double* x, std::size_t n) {
  Double4 most = all(-INFINITY), v;
  for (std::size_t j = 0; j < n; j += kLanes) {
    v = load(x + j);
    most = larger(v, most);
  }
  return largest(most);
}

ATTNVP_BODY double greatest_magnitude_body(const double* x, std::size_t n) {
  Double4 most = all(0), zero = all(0), v;
  for (std::size_t j = 0; j < n; j += kLanes) {
    v = load(x + j);
    most = larger(magnitude(v), most);
    zero += v * 0;  // NaN if v is not finite
  }
  return largest(most) + total(zero);
}

ATTNVP_BODY void errors_body(const double* scores, const double* k_norm, double unit, double* d, std::size_t n) {
  Double4 s, norm;
  for (std::size_t j = 0; j < n; j += kLanes) {
    s = load(scores + j);
    norm = load(k_norm + j);
    const Double4 accumulation = norm * unit;
    const Double4 error = accumulation + kH * (magnitude(s) + accumulation) + kHalfTiny;
    const Double4 result = s == -INFINITY ? all(0) : error;
    store(d + j, result);
  }
}

ATTNVP_BODY void probabilities_body(double* p, std::size_t n, double greatest) {
  Double4 sum = all(0), v;
  for (std::size_t j = 0; j < n; j += kLanes) {
    v = load(p + j);
    v = exponential(larger(v - greatest, all(-700)));
    sum += v;
    store(p + j, v);
  }
  const double inverse = 1 / total(sum);
  for (std::size_t j = 0; j < n; j += kLanes) {
    v = load(p + j);
    v *= inverse;
    Long4 bits;  // 42 bits: products with FP16 numbers are exact
    std::memcpy(&bits, &v, sizeof bits);
    bits &= ~std::int64_t{0x7FF};
    std::memcpy(&v, &bits, sizeof v);
    store(p + j, v);
  }
}

// For 0 <= x <= 1/16, with the same relative error.
ATTNVP_BODY Double4 small_exponential(Double4 x) {
  constexpr double kTerms[] = {1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0};
  Double4 e = all(1.0 / 5040);
#pragma GCC unroll 8
  for (const double term : kTerms) e = e * x + term;
  return e;
}

template <Double4 (*kExponential)(Double4)>
ATTNVP_BODY double grow_by(const ScoreRow& row) {
  Double4 sum = all(0), p, d;
  for (std::size_t j = 0; j < row.n; j += kLanes) {
    p = load(row.p + j);
    d = load(row.d + j);
    const Double4 t = p * kExponential(smaller(d, all(100)));  // a wider bound would accept anything
    sum += t;
    store(row.t + j, t);
  }
  return total(sum);
}

ATTNVP_BODY double grow_body(const ScoreRow& row) {
  return greatest_body(row.d, row.n) <= 1.0 / 16 ? grow_by<small_exponential>(row) : grow_by<exponential>(row);
}

ATTNVP_BODY Grown scale_body(const ScoreRow& row, double factor) {
  Double4 most = all(0), t;
  Long4 above = {};
  for (std::size_t j = 0; j < row.n; j += kLanes) {
    t = load(row.t + j);
    t *= factor;
    above -= t > kHalfTiny;
    most = larger(t, most);
    store(row.t + j, t);
  }
  return {static_cast<std::size_t>(above[0] + above[1] + above[2] + above[3]), largest(most)};
}

// Up to 13 bits, at least kLeastWeight; keeps NaN.
ATTNVP_BODY Double4 shortened(Double4 x) {
  constexpr std::int64_t kRest = (std::int64_t{1} << 40) - 1;
  const Double4 least = all(kLeastWeight);
  x = x < least ? least : x;
  Long4 bits;
  std::memcpy(&bits, &x, sizeof bits);
  bits = (bits + kRest) & ~kRest;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

ATTNVP_BODY void weigh_body(const ScoreRow& row, Loss once, Loss again, double sum_error) {
  const double most = again.relative + again.least > 0 ? 1 + kUp : 1;
  Double4 p, t;
  for (std::size_t j = 0; j < row.n; j += kLanes) {
    p = load(row.p + j);
    t = load(row.t + j);
    const Double4 lost = larger(t * once.relative, all(once.least)) + larger(t * again.relative, all(again.least));
    const Double4 wide = t - p + smaller(t * most, lost);
    const Double4 weight = shortened(smaller(wide + sum_error * (p + wide), all(1e30)));
    for (std::size_t i = 0; i < kLanes; ++i) row.w[j + i] = static_cast<float>(weight[i]);
  }
}

ATTNVP_BODY void weight_range_body(const double* scores, const double* d, double reference, double* low, double* high,
                                   std::size_t n) {
  const Double4 least = all(-700), most = all(600), zero = all(0);
  for (std::size_t j = 0; j < n; j += kLanes) {
    const Double4 s = load(scores + j), error = load(d + j);
    const Double4 down = s - error, up = s + error;
    const Double4 a = exponential(smaller(larger(down - reference, least), most));
    const Double4 b = exponential(smaller(larger(up - reference, least), most));
    store(low + j, down <= -kOverflow ? zero : a);
    store(high + j, s == -INFINITY ? zero : b);
  }
}

// Dinkelbach's method: values at or above the mean c take their greatest weights, the others their least. c only grows,
// so ever fewer values take the greatest. When their number is constant, c is the greatest mean.
ATTNVP_BODY void greatest_mean_body(const double* v, const double* low, const double* high, std::size_t n,
                                    double* result) {
  for (std::size_t at = 0; at < Panels<double>::kColumns; at += kLanes) {
    Double4 c = all(-INFINITY);
    Long4 before = Long4{} + std::numeric_limits<std::int64_t>::max(), done = {};
    do {
      Double4 weighted = all(0), weights = all(0);
      Long4 count = {};
      for (std::size_t j = 0; j < n; ++j) {
        const Double4 x = load(v + j * Panels<double>::kColumns + at);
        const Double4 a = x >= c ? all(high[j]) : all(low[j]);
        weighted += a * x;
        weights += a;
        count -= x >= c;
      }
      done |= count >= before;
      before = count;
      c = larger(weighted / weights, c);  // unchanged if all weights are 0
    } while ((done[0] & done[1] & done[2] & done[3]) == 0);
    store(result + at, c);
  }
}

}  // namespace

#ifdef ATTNVP_HAS_AVX2
#define ATTNVP_VARIANTS(result, name, declaration, arguments)                    \
  namespace {                                                                    \
  ATTNVP_AVX2 result name##_avx2 declaration { return name##_body arguments; }   \
  result name##_portable declaration { return name##_body arguments; }           \
  }                                                                              \
  result name declaration {                                                      \
    if (arith::current_isa() >= arith::Isa::kAvx2) return name##_avx2 arguments; \
    return name##_portable arguments;                                            \
  }
#else
#define ATTNVP_VARIANTS(result, name, declaration, arguments) \
  result name declaration { return name##_body arguments; }
#endif

ATTNVP_VARIANTS(double, greatest, (const double* x, std::size_t n), (x, n))
ATTNVP_VARIANTS(double, greatest_magnitude, (const double* x, std::size_t n), (x, n))
ATTNVP_VARIANTS(void, errors, (const double* scores, const double* k_norm, double unit, double* d, std::size_t n),
                (scores, k_norm, unit, d, n))
ATTNVP_VARIANTS(void, probabilities, (double* p, std::size_t n, double greatest), (p, n, greatest))
ATTNVP_VARIANTS(double, grow, (const ScoreRow& row), (row))
ATTNVP_VARIANTS(Grown, scale, (const ScoreRow& row, double factor), (row, factor))
ATTNVP_VARIANTS(void, weigh, (const ScoreRow& row, Loss once, Loss again, double sum_error),
                (row, once, again, sum_error))
ATTNVP_VARIANTS(void, weight_range,
                (const double* scores, const double* d, double reference, double* low, double* high, std::size_t n),
                (scores, d, reference, low, high, n))
ATTNVP_VARIANTS(void, greatest_mean,
                (const double* v, const double* low, const double* high, std::size_t n, double* result),
                (v, low, high, n, result))

float shortened_up(float x) { return static_cast<float>(shortened(all(static_cast<double>(x)))[0]); }

double rounded_down(double x) {
  std::int64_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  bits &= ~std::int64_t{0x7FF};
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

}  // namespace attnvp::job
