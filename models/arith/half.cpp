#include "models/arith/half.h"

#include <climits>
#include <cstring>

#include "models/arith/isa.h"

#ifdef ATTNVP_HAS_AVX2
#include <immintrin.h>
#endif

namespace attnvp::arith {
namespace {

template <typename To, typename From>
To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From), "same size");
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

// Rounds a finite binary float with kMantissaBits to half. `magnitude`: bits without the sign, in the same exponent
// layout.
template <typename Bits, int kMantissaBits, int kBias>
Half round_magnitude(Bits magnitude) {
  const int exponent = static_cast<int>(magnitude >> kMantissaBits) - kBias + 15;  // biased exponent of the half
  if (exponent >= 31) return kHalfInfinity;                                        // also the infinities
  if (exponent < -10) return 0;                                                    // below 2^-25: rounds to zero
  constexpr Bits kHidden = Bits{1} << kMantissaBits;
  const Bits significand = (magnitude & (kHidden - 1)) | kHidden;
  const int shift = kMantissaBits - 10 + (exponent < 1 ? 1 - exponent : 0);
  const Bits half_unit = Bits{1} << (shift - 1);
  const Bits rounded = (significand + half_unit - 1 + ((significand >> shift) & 1)) >> shift;
  // The hidden bit adds one to the exponent field, as does a carry out of the mantissa.
  const int base = exponent < 1 ? 0 : (exponent - 1) << 10;
  return static_cast<Half>(base + static_cast<int>(rounded));
}

#ifdef ATTNVP_HAS_AVX2
ATTNVP_AVX2 void floats_from_halves_avx2(const Half* in, float* out, std::size_t n) {
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m128i h = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i));
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(h));
  }
  for (; i < n; ++i) out[i] = _cvtsh_ss(in[i]);
}

ATTNVP_AVX2 void halves_from_floats_avx2(const float* in, Half* out, std::size_t n) {
  const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7FC00000));
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m256 x = _mm256_loadu_ps(in + i);
    const __m256 canonical = _mm256_blendv_ps(x, nan, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
    const __m128i h = _mm256_cvtps_ph(canonical, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), h);
  }
  for (; i < n; ++i) out[i] = half_from_float(in[i]);
}
#endif

}  // namespace

float float_from_half(Half h) {
  const std::uint32_t sign = static_cast<std::uint32_t>(h & kHalfSign) << 16;
  const std::uint32_t magnitude = h & 0x7FFF;
  if (magnitude >= kHalfInfinity) {  // exponent 31 becomes 255; a NaN keeps its payload and becomes quiet
    const std::uint32_t quiet = magnitude > kHalfInfinity ? 0x00400000 : 0;
    return bits_as<float>(sign | 0x7F800000 | quiet | ((magnitude & 0x3FF) << 13));
  }
  if (magnitude < 0x0400) {  // subnormal or zero: an integer times 2^-24
    const float value = static_cast<float>(magnitude) * 0x1p-24F;
    return sign != 0 ? -value : value;
  }
  return bits_as<float>(sign | ((magnitude << 13) + ((127U - 15U) << 23)));
}

double double_from_half(Half h) { return static_cast<double>(float_from_half(h)); }

Half half_from_float(float value) {
  const auto bits = bits_as<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000) return kHalfNan;
  const auto sign = static_cast<Half>((bits >> 16) & kHalfSign);
  return static_cast<Half>(sign | round_magnitude<std::uint32_t, 23, 127>(magnitude));
}

Half half_from_double(double value) {
  const auto bits = bits_as<std::uint64_t>(value);
  const std::uint64_t magnitude = bits & 0x7FFFFFFFFFFFFFFF;
  if (magnitude > 0x7FF0000000000000) return kHalfNan;
  const auto sign = static_cast<Half>((bits >> 48) & kHalfSign);
  return static_cast<Half>(sign | round_magnitude<std::uint64_t, 52, 1023>(magnitude));
}

void floats_from_halves(const Half* in, float* out, std::size_t n) {
#ifdef ATTNVP_HAS_AVX2
  if (current_isa() >= Isa::kAvx2) return floats_from_halves_avx2(in, out, n);
#endif
  for (std::size_t i = 0; i < n; ++i) out[i] = float_from_half(in[i]);
}

void halves_from_floats(const float* in, Half* out, std::size_t n) {
#ifdef ATTNVP_HAS_AVX2
  if (current_isa() >= Isa::kAvx2) return halves_from_floats_avx2(in, out, n);
#endif
  for (std::size_t i = 0; i < n; ++i) out[i] = half_from_float(in[i]);
}

int ulp_distance(Half a, Half b) {
  if (is_nan(a) || is_nan(b)) return is_nan(a) && is_nan(b) ? 0 : INT_MAX;
  const auto order = [](Half h) { return (h & kHalfSign) != 0 ? -(h & 0x7FFF) : h & 0x7FFF; };
  const int distance = order(a) - order(b);
  return distance < 0 ? -distance : distance;
}

}  // namespace attnvp::arith
