// The row softmax of the VEC engine, defined in integers so that RTL can match it bit for bit.
//
//   step / signal    width   unit         meaning
//   x_j              16      -            FP16 input
//   X_j = fixed      s32     2^-14        x_j rounded to nearest even; |X| < 2^30; -inf -> -2^31
//   M                s32     2^-14        max of X_j
//   D = M - X_j      u32     2^-14        saturated to 2^19 - 1 (32 nats), 19 bits from there on
//   D * kLog2E       u41     2^-35        kLog2E = 3025551 = round(log2(e) * 2^21), 22 bits
//   t                u22     2^-16        (D * kLog2E + 2^18) >> 19, at most 46.2
//   -t               s23     2^-16        two's complement: integer part -shift (floor), fraction g
//   shift            u6      -            0 .. 47
//   g = {i, r}       u16     2^-16        i: 6 bits choose the segment of 2^g, r: 10 bits within it
//   base[i]          u20     2^-19        kExp2Table[i] >> 12, holds +0.5 unit of the mantissa's rounding
//   slope[i]         u12     2^-12        kExp2Table[i] & 0xFFF, mantissa units per step of r
//   acc              u28     2^-27        (base << 8) + slope * r
//   mantissa         u16     2^-15        acc >> 12 = 2^g in [1, 2), bit 15 always set; exactly 1.0 for t = 0
//   term             u41     2^-40        (mantissa << 25) >> shift, truncated; 0 from shift = 41 on
//   S                u64     2^-40        exact sum of the terms; 2^40 <= S < 2^64 for up to 2^23 elements
//   L                u5      -            position of S's leading one, minus 40
//   s                u24     2^-23        S >> (L + 17): the top 24 bits of S, in [1, 2)
//   R                u17     2^-16        (2^39 + (s >> 1)) / s = 1/s in [1/2, 1], once per row
//   P                u32     2^-31-k      mantissa * R, k = shift + L; its leading one is bit 30 or 31
//   p_j              16      -            P rounded once to FP16, nearest even, subnormals kept; 0 for k > 25
//
// The relative error of p_j before the last rounding is below kSoftmaxRelativeError. It is the sum of all worst cases:
// X 2^-15, t 0.6e-5, 2^g 2.6e-5, the same again through S, truncated terms n * 2^-40, R 1.6e-5. After rounding p_j is
// within 1 FP16 ulp of the correctly rounded softmax. A row of n equal values gives 1/n within that ulp, exactly
// rounded if n is a power of two. R has 17 bits; about 1% of the other n reach the full ulp.
//
// A row may have a sink, an FP16 number x that is no element: M = max(M, X), and S has the term of D = M - X more.
//
// Special rows, as in an IEEE softmax: any NaN, any +inf or only -inf give a row of 0x7E00; -inf beside a finite value
// gives +0. A row of only -inf with a sink is all +0.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "models/arith/half.h"
#include "models/arith/matmul.h"

namespace attnvp::arith {

inline constexpr std::size_t kSoftmaxMaxLength = std::size_t{1} << 23;
inline constexpr double kSoftmaxRelativeError = 1.5e-4;  // before the rounding to FP16
inline constexpr std::uint32_t kSoftmaxMaxDifference = (1U << 19) - 1;
inline constexpr std::uint32_t kLog2E = 3025551;

// Segment i of 2^g: base << 12 | slope. The chord over the segment, lowered by half of its greatest distance from 2^g.
// With y(z) = 2^15 * 2^(z/64),
//   slope = round(2^12 * (y(i+1) - y(i)) / 1024)
//   base  = round(2^4 * (y(i) - y(i) * (ln2 / 64)^2 / 16 + 0.5))
extern const std::array<std::uint32_t, 64> kExp2Table;

// Single steps, for tests of the hardware.
std::int32_t fixed_from_half(Half x);  // X; x is not NaN or +inf

struct ExpTerm {
  std::uint16_t mantissa;  // Q1.15
  std::uint8_t shift;      // e^-D = mantissa * 2^-15 * 2^-shift
};
ExpTerm exp_step(std::uint32_t difference);  // D, any 32 bits
std::uint64_t sum_term(ExpTerm term);        // in units of 2^-40

struct Reciprocal {
  std::uint32_t value;     // R, Q1.16
  std::uint32_t exponent;  // L; 1/S = R * 2^-16 * 2^-L
};
Reciprocal reciprocal(std::uint64_t sum);  // sum >= 2^40
Half normalise(ExpTerm term, Reciprocal reciprocal);

// Reference, element by element, and an optimised implementation with the same bits. n <= kSoftmaxMaxLength; in == out
// is allowed. `sink`: a finite number, or nullptr.
void softmax_row_reference(const Half* in, Half* out, std::size_t n, const Half* sink = nullptr);
void softmax_row(const Half* in, Half* out, std::size_t n, Workspace& workspace, const Half* sink = nullptr);

// Soft-cap of scores before softmax: cap * tanh(x / cap). Computed in double from additions, products and quotients
// only, so that all hosts give the same bits. Absolute error below 1e-14 * cap.
double soft_cap(double x, double cap);  // cap > 0; NaN for NaN

}  // namespace attnvp::arith
