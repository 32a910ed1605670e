// IEEE 754 binary16 as bits. Conversions round to nearest even; every generated NaN is 0x7E00. All hosts and code
// variants give the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace attnvp::arith {

using Half = std::uint16_t;

inline constexpr Half kHalfNan = 0x7E00;
inline constexpr Half kHalfInfinity = 0x7C00;
inline constexpr Half kHalfOne = 0x3C00;
inline constexpr Half kHalfMax = 0x7BFF;  // 65504
inline constexpr Half kHalfSign = 0x8000;

constexpr bool is_nan(Half h) { return (h & 0x7FFF) > kHalfInfinity; }
constexpr bool is_finite(Half h) { return (h & 0x7C00) != 0x7C00; }

float float_from_half(Half h);  // exact; a signalling NaN becomes quiet
double double_from_half(Half h);
Half half_from_float(float value);
Half half_from_double(double value);  // rounded once, not through float

// Arrays: same bits as the scalar functions, with F16C if the host has it. in and out must not overlap.
void floats_from_halves(const Half* in, float* out, std::size_t n);
void halves_from_floats(const float* in, Half* out, std::size_t n);

// Number of representable values between a and b. 0 for +0 and -0 and for two NaNs; INT_MAX if only one is a NaN. An
// infinity is one step beyond the largest finite value.
int ulp_distance(Half a, Half b);

}  // namespace attnvp::arith
