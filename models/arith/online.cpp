#include "models/arith/online.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/arith/isa.h"
#include "models/arith/softmax_steps.h"

namespace attnvp::arith {

namespace {

constexpr Half kMinusInfinity = kHalfInfinity | kHalfSign;
constexpr std::uint32_t kNoTerm = 41;  // terms with this or a greater shift are zero

float canonical(float x) { return std::isnan(x) ? std::numeric_limits<float>::quiet_NaN() : x; }

std::uint32_t difference(Half top, Half x) {
  return static_cast<std::uint32_t>(fixed_from_half(top)) - static_cast<std::uint32_t>(fixed_from_half(x));
}

ATTNVP_STEP std::int16_t key(Half h) { return steps::order_key(static_cast<std::int16_t>(h)); }

ATTNVP_STEP std::uint64_t exp_body(const Half* in, Half* out, std::size_t n, std::uint32_t top) {
  std::uint64_t sum = 0;
  for (std::size_t j = 0; j < n; ++j) {
    const std::uint32_t term = steps::exponential(top - static_cast<std::uint32_t>(steps::fixed_step(in[j])));
    sum += steps::term_value(term);
    out[j] = static_cast<Half>(steps::probability(term, 1U << 16, 0));  // divided by 1
  }
  return sum;
}

std::uint64_t exp_portable(const Half* in, Half* out, std::size_t n, std::uint32_t top) {
  return exp_body(in, out, n, top);
}

#ifdef ATTNVP_HAS_AVX2
ATTNVP_AVX2 std::uint64_t exp_avx2(const Half* in, Half* out, std::size_t n, std::uint32_t top) {
  return exp_body(in, out, n, top);
}
#endif

}  // namespace

Half running_max(Half a, Half b) {
  if (is_nan(a) || is_nan(b)) return kHalfNan;
  return key(a) < key(b) ? b : a;
}

Half row_max(const Half* in, std::size_t n) {
  std::int16_t greatest = INT16_MIN;
  bool nan = false;
  for (std::size_t j = 0; j < n; ++j) {
    greatest = std::max(greatest, key(in[j]));
    nan = nan || is_nan(in[j]);
  }
  return nan ? kHalfNan : static_cast<Half>(steps::order_key(greatest));
}

float exp_row(const Half* in, Half* out, std::size_t n, Half top) {
  if (top == kMinusInfinity) {
    std::fill(out, out + n, Half{0});
    return 0;
  }
  if (!is_finite(top)) {
    std::fill(out, out + n, kHalfNan);
    return std::numeric_limits<float>::quiet_NaN();
  }
  const auto fixed = static_cast<std::uint32_t>(fixed_from_half(top));
#ifdef ATTNVP_HAS_AVX2
  const std::uint64_t sum = (current_isa() >= Isa::kAvx2 ? exp_avx2 : exp_portable)(in, out, n, fixed);
#else
  const std::uint64_t sum = exp_portable(in, out, n, fixed);
#endif
  return std::ldexp(static_cast<float>(sum), -40);
}

float exp_scale(Half from, Half to) {
  if (to == kMinusInfinity) return 0;
  if (!is_finite(to)) return std::numeric_limits<float>::quiet_NaN();
  const ExpTerm term = exp_step(difference(to, from));
  return term.shift >= kNoTerm ? 0.0F : std::ldexp(static_cast<float>(term.mantissa), -15 - term.shift);
}

void scale_add_row(float* x, float a, const float* z, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) x[j] = canonical(x[j] * a + z[j]);
}

void scale_add_row(float* x, float a, const float* z, float b, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) x[j] = canonical(x[j] * a + z[j] * b);
}

float scaled(float x, float a) { return canonical(x * a); }

float with_sink(float l, Half maximum, Half sink) {
  if (is_nan(maximum)) return std::numeric_limits<float>::quiet_NaN();
  if (key(maximum) >= key(sink)) return canonical(l + exp_scale(sink, maximum));
  return canonical(l + 1 / exp_scale(maximum, sink));
}

void divide_row(const float* x, float l, Half* out, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) out[j] = half_from_float(x[j] / l);
}

}  // namespace attnvp::arith
