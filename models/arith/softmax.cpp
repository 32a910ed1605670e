#include "models/arith/softmax.h"

#include <algorithm>

#include "models/arith/isa.h"

// The steps are written once, without branches, and inlined into the reference and into one loop per variant,
// where the compiler turns them into vector code.
#if defined(__GNUC__) || defined(__clang__)
#define ATTNVP_STEP inline __attribute__((always_inline))
#else
#define ATTNVP_STEP inline
#endif

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

constexpr std::int32_t kFixedMinusInfinity = INT32_MIN;
constexpr std::uint32_t kMaxScale = 25;  // P * 2^-31-k rounds to zero beyond

ATTNVP_STEP std::int32_t fixed_step(Half x) {
  const std::uint32_t exponent = (x >> 10) & 31U;
  const std::uint32_t significand = (x & 0x3FFU) | (exponent != 0 ? 0x400U : 0U);
  // |x| = significand * 2^(e-25) and X has 14 binary places; 20 bits to the left the shift is always >= 1.
  const std::uint32_t wide = significand << 20;
  const std::uint32_t shift = 31 - std::min(std::max(exponent, 1U), 30U);
  const std::uint32_t rounded = (wide + (1U << (shift - 1)) - 1 + ((wide >> shift) & 1)) >> shift;
  const auto magnitude = static_cast<std::int32_t>(rounded);
  const std::int32_t finite = (x & kHalfSign) != 0 ? -magnitude : magnitude;
  return exponent == 31 ? kFixedMinusInfinity : finite;
}

// shift << 16 | mantissa
ATTNVP_STEP std::uint32_t exponential(std::uint32_t difference) {
  const std::uint32_t d = std::min(difference, kSoftmaxMaxDifference);
  // The 41-bit product in two pieces of 32 bits; floor(floor(x / a) / b) = floor(x / (a b)).
  const std::uint32_t low = ((d & 1023) * kLog2E + (1U << 18)) >> 10;
  const std::uint32_t t = ((d >> 10) * kLog2E + low) >> 9;
  const std::uint32_t shift = (t + 0xFFFF) >> 16;
  const std::uint32_t fraction = (0U - t) & 0xFFFF;
  const std::uint32_t segment = kExp2Table[fraction >> 10];
  const std::uint32_t mantissa = (((segment >> 12) << 8) + (segment & 0xFFF) * (fraction & 1023)) >> 12;
  return shift << 16 | mantissa;
}

ATTNVP_STEP std::uint64_t term_value(std::uint32_t packed) {
  return (static_cast<std::uint64_t>(packed & 0xFFFF) << 25) >> (packed >> 16);
}

ATTNVP_STEP std::uint32_t probability(std::uint32_t packed, std::uint32_t value, std::uint32_t exponent) {
  const std::uint32_t product = (packed & 0xFFFF) * value;
  const std::uint32_t scale = (packed >> 16) + exponent;
  const std::uint32_t k = std::min(scale, kMaxScale);
  const std::uint32_t sticky = (product >> 1) | (product & 1);  // 31 bits leave room for the rounding carry
  // 11 bits stay of a normal result, fewer of a subnormal one.
  const std::uint32_t shift = std::max(19 + (product >> 31), 6 + k);
  const std::uint32_t rounded = (sticky + (1U << (shift - 1)) - 1 + ((sticky >> shift) & 1)) >> shift;
  // The exponent field less one: the leading bit of a normal result, and any carry, adds itself to it.
  const std::uint32_t bits = ((shift - 6 - k) << 10) + rounded;
  return scale > kMaxScale ? 0 : bits;
}

// Orders halves as 16-bit integers, -0 just below +0; its own inverse.
ATTNVP_STEP std::int16_t order_key(std::int16_t bits) {
  return static_cast<std::int16_t>(bits ^ ((bits >> 15) & 0x7FFF));
}

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

bool is_nan_row(RowMax max) {
  return is_nan(max.greatest_magnitude) || max.greatest == kHalfInfinity || max.greatest == (kHalfInfinity | kHalfSign);
}

ATTNVP_STEP void row_body(const Half* in, Half* out, std::size_t n, std::uint32_t* terms) {
  const RowMax max = find_max(in, n);
  if (is_nan_row(max)) {
    std::fill(out, out + n, kHalfNan);
    return;
  }
  const auto top = static_cast<std::uint32_t>(fixed_step(max.greatest));  // rounding is monotonic
  std::uint64_t sum = 0;
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

void row_portable(const Half* in, Half* out, std::size_t n, std::uint32_t* terms) { row_body(in, out, n, terms); }

#ifdef ATTNVP_HAS_AVX2
ATTNVP_AVX2 void row_avx2(const Half* in, Half* out, std::size_t n, std::uint32_t* terms) {
  row_body(in, out, n, terms);
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

void softmax_row_reference(const Half* in, Half* out, std::size_t n) {
  bool nan = n == 0;
  bool all_minus_infinity = true;
  std::int32_t top = kFixedMinusInfinity;
  for (std::size_t j = 0; j < n; ++j) {
    nan = nan || is_nan(in[j]) || in[j] == kHalfInfinity;
    if (nan) break;
    all_minus_infinity = all_minus_infinity && in[j] == (kHalfInfinity | kHalfSign);
    top = std::max(top, fixed_from_half(in[j]));
  }
  if (nan || all_minus_infinity) return std::fill(out, out + n, kHalfNan);

  const auto difference = [&](std::size_t j) {
    return static_cast<std::uint32_t>(top) - static_cast<std::uint32_t>(fixed_from_half(in[j]));
  };
  std::uint64_t sum = 0;
  for (std::size_t j = 0; j < n; ++j) sum += sum_term(exp_step(difference(j)));
  const Reciprocal inverse = reciprocal(sum);
  for (std::size_t j = 0; j < n; ++j) out[j] = normalise(exp_step(difference(j)), inverse);
}

void softmax_row(const Half* in, Half* out, std::size_t n, Workspace& workspace) {
  if (n == 0) return;
  std::uint32_t* const terms = workspace.terms.get(n);
#ifdef ATTNVP_HAS_AVX2
  if (current_isa() == Isa::kAvx2) return row_avx2(in, out, n, terms);
#endif
  row_portable(in, out, n, terms);
}

}  // namespace attnvp::arith
