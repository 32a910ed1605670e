#include "models/arith/softmax.h"

#include <algorithm>
#include <cmath>

#include "models/arith/isa.h"
#include "models/arith/softmax_steps.h"

namespace attnvp::arith {

const std::array<std::uint32_t, 64> kExp2Table = {
    0x80004593, 0x816515A3, 0x82CDC5B3, 0x843A75C2, 0x85AB05D2, 0x871FA5E3, 0x889855F3, 0x8A151604,
    0x8B960614, 0x8D1B2625, 0x8EA47637, 0x90321648, 0x91C41659, 0x935A666B, 0x94F5367D, 0x9694668F,
    0x983826A1, 0x99E086B4, 0x9B8D76C6, 0x9D3F16D9, 0x9EF566EC, 0xA0B08700, 0xA2707713, 0xA4354727,
    0xA5FF073B, 0xA7CDC74F, 0xA9A19763, 0xAB7A6778, 0xAD58778D, 0xAF3BA7A2, 0xB12427B7, 0xB311F7CD,
    0xB50527E2, 0xB6FDC7F8, 0xB8FBD80F, 0xBAFF8825, 0xBD08D83C, 0xBF17C853, 0xC12C786A, 0xC346F881,
    0xC5675899, 0xC78D98B1, 0xC9B9E8C9, 0xCBEC38E2, 0xCE24B8FB, 0xD0635914, 0xD2A8492D, 0xD4F37947,
    0xD7451960, 0xD99D397B, 0xDBFBD995, 0xDE6119B0, 0xE0CCF9CB, 0xE33FA9E6, 0xE5B92A02, 0xE8398A1D,
    0xEAC0DA3A, 0xED4F4A56, 0xEFE4CA73, 0xF2818A90, 0xF5258AAE, 0xF7D0FACB, 0xFA83CAE9, 0xFD3E1B08,
};

namespace {

using namespace steps;

struct RowMax {
  Half greatest;
  Half greatest_magnitude;
};

ATTNVP_STEP RowMax find_max(const Half* in, std::size_t n) {
  std::int16_t key = INT16_MIN;
  std::int16_t magnitude = 0;
  for (std::size_t j = 0; j < n; ++j) {
    const auto bits = static_cast<std::int16_t>(in[j]);
    key = std::max(key, order_key(bits));
    magnitude = std::max(magnitude, static_cast<std::int16_t>(bits & 0x7FFF));
  }
  return {static_cast<Half>(order_key(key)), static_cast<Half>(magnitude)};
}

bool is_nan_row(RowMax max, const Half* sink) {
  return is_nan(max.greatest_magnitude) || max.greatest == kHalfInfinity ||
         (sink == nullptr && max.greatest == (kHalfInfinity | kHalfSign));
}

ATTNVP_STEP void row_body(const Half* in, Half* out, std::size_t n, const Half* sink, std::uint32_t* terms) {
  const RowMax max = find_max(in, n);
  if (is_nan_row(max, sink)) {
    std::fill(out, out + n, kHalfNan);
    return;
  }
  auto top = static_cast<std::uint32_t>(fixed_step(max.greatest));  // rounding is monotonic
  std::uint64_t sum = 0;
  if (sink != nullptr) {
    const std::int32_t x = fixed_step(*sink);
    top = static_cast<std::uint32_t>(std::max(fixed_step(max.greatest), x));
    sum = term_value(exponential(top - static_cast<std::uint32_t>(x)));
  }
  for (std::size_t j = 0; j < n; ++j) {
    const std::uint32_t term = exponential(top - static_cast<std::uint32_t>(fixed_step(in[j])));
    terms[j] = term;
    sum += term_value(term);
  }
  const Reciprocal inverse = reciprocal(sum);
  for (std::size_t j = 0; j < n; ++j) {
    out[j] = static_cast<Half>(probability(terms[j], inverse.value, inverse.exponent));
  }
}

void row_portable(const Half* in, Half* out, std::size_t n, const Half* sink, std::uint32_t* terms) {
  row_body(in, out, n, sink, terms);
}

#ifdef ATTNVP_HAS_AVX2
ATTNVP_AVX2 void row_avx2(const Half* in, Half* out, std::size_t n, const Half* sink, std::uint32_t* terms) {
  row_body(in, out, n, sink, terms);
}
#endif

std::uint32_t pack(ExpTerm term) { return static_cast<std::uint32_t>(term.shift) << 16 | term.mantissa; }

}  // namespace

std::int32_t fixed_from_half(Half x) { return fixed_step(x); }

ExpTerm exp_step(std::uint32_t difference) {
  const std::uint32_t packed = exponential(difference);
  return {static_cast<std::uint16_t>(packed & 0xFFFF), static_cast<std::uint8_t>(packed >> 16)};
}

std::uint64_t sum_term(ExpTerm term) { return term_value(pack(term)); }

Reciprocal reciprocal(std::uint64_t sum) {
  std::uint32_t exponent = 0;
  while (exponent < 23 && sum >> (exponent + 41) != 0) ++exponent;
  const std::uint64_t s = sum >> (exponent + 17);
  return {static_cast<std::uint32_t>(((std::uint64_t{1} << 39) + (s >> 1)) / s), exponent};
}

Half normalise(ExpTerm term, Reciprocal reciprocal) {
  return static_cast<Half>(probability(pack(term), reciprocal.value, reciprocal.exponent));
}

void softmax_row_reference(const Half* in, Half* out, std::size_t n, const Half* sink) {
  bool nan = n == 0;
  bool all_minus_infinity = sink == nullptr;
  std::int32_t top = sink == nullptr ? kFixedMinusInfinity : fixed_from_half(*sink);
  for (std::size_t j = 0; j < n; ++j) {
    nan = nan || is_nan(in[j]) || in[j] == kHalfInfinity;
    if (nan) break;
    all_minus_infinity = all_minus_infinity && in[j] == (kHalfInfinity | kHalfSign);
    top = std::max(top, fixed_from_half(in[j]));
  }
  if (nan || all_minus_infinity) return std::fill(out, out + n, kHalfNan);

  const auto term = [&](Half x) {
    return exp_step(static_cast<std::uint32_t>(top) - static_cast<std::uint32_t>(fixed_from_half(x)));
  };
  std::uint64_t sum = sink == nullptr ? 0 : sum_term(term(*sink));
  for (std::size_t j = 0; j < n; ++j) sum += sum_term(term(in[j]));
  const Reciprocal inverse = reciprocal(sum);
  for (std::size_t j = 0; j < n; ++j) out[j] = normalise(term(in[j]), inverse);
}

void softmax_row(const Half* in, Half* out, std::size_t n, Workspace& workspace, const Half* sink) {
  if (n == 0) return;
  std::uint32_t* const terms = workspace.terms.get(n);
#ifdef ATTNVP_HAS_AVX2
  if (current_isa() >= Isa::kAvx2) return row_avx2(in, out, n, sink, terms);
#endif
  row_portable(in, out, n, sink, terms);
}

namespace {

constexpr double kFlat = 20;  // beyond it tanh is 1, to 53 bits

// e^x - 1 for 0 <= x <= 1/32.
double small_expm1(double x) {
  constexpr int kTerms = 9;
  double sum = 1;
  for (int i = kTerms; i > 1; --i) sum = 1 + x / i * sum;
  return x * sum;
}

// For 0 <= x < kFlat: tanh of a small part of x, then doubled by tanh 2x = 2 t / (1 + t^2).
double tanh_of(double x) {
  int doublings = 0;
  for (; x > 1.0 / 64; x /= 2) ++doublings;
  const double e = small_expm1(2 * x);
  double t = e / (e + 2);
  for (; doublings > 0; --doublings) t = 2 * t / (1 + t * t);
  return t;
}

}  // namespace

double soft_cap(double x, double cap) {
  if (std::isnan(x)) return x;
  const double y = std::abs(x) / cap;
  const double magnitude = y < kFlat ? cap * tanh_of(y) : cap;
  return x < 0 ? -magnitude : magnitude;
}

}  // namespace attnvp::arith
