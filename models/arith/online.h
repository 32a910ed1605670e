// One-pass softmax in steps: what the VEC engine (and PEs that can) do to a tile of scores, defined so that RTL can
// match it bit for bit. A row keeps a running maximum M (FP16), and running sums R = [numerators | denominator] (FP32);
// a tile gives its own maximum, P = e^(S - M'), and sums T; R' = R * e^(M - M') + T; at the end O = numerators /
// denominator.
//
// Exponentials are those of softmax.h: X = fixed(x), D = X(M') - X(x), exp_step(D), so that the scales of several steps
// multiply to the scale of all of them but for the table's error (kExpStepError for each change of the maximum).
//
//   running_max   the greater; -0 < +0; any NaN gives 0x7E00
//   exp           FP16: exp_step(D) rounded once, nearest even, subnormals kept. x <= top is expected: an x above it
//                 counts as 32 nats below
//   exp_sum       FP32: the exact sum of sum_term(exp_step(D)) in units of 2^-40, rounded once
//   exp_scale     FP32, exact: mantissa * 2^-15 * 2^-shift of exp_step(D); +0 from shift = 41 on, as in sum_term
//   scale_add     FP32, IEEE, nearest even, subnormals kept: (x * a) + (z * b), each of the three operations rounded;
//                 without b: (x * a) + z; without a: z or (z * b), -0 becoming +0
//   scaled        FP32, the first of those operations alone: x = scaled(x, a), then x * 1 + z, is scale_add
//   divide        FP32 x / l, rounded, then rounded to FP16
//
// Special values. M' = -inf, nothing but -inf so far: exp, exp_sum and exp_scale give 0, so that a row of nothing else
// ends as 0 / 0. M' = +inf or NaN: exp gives 0x7E00, exp_sum and exp_scale the FP32 NaN 0x7FC00000. An x of -inf below
// a finite M' gives 0. Every NaN made by scale_add is 0x7FC00000, by divide 0x7E00.
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/arith/half.h"
#include "models/arith/softmax.h"

namespace attnvp::arith {

inline constexpr double kExpStepError = 3.3e-5;      // of exp_step against e^-D, relative
inline constexpr double kExpRelativeError = 9.5e-5;  // the same against e^(x - M): X is rounded by 2^-15 twice

Half running_max(Half a, Half b);
Half row_max(const Half* in, std::size_t n);  // n >= 1

// out = e^(in - top); returns the sum. n <= kSoftmaxMaxLength; in == out is allowed.
float exp_row(const Half* in, Half* out, std::size_t n, Half top);
// e^(from - to)
float exp_scale(Half from, Half to);

// x[j] = x[j] * a + z[j], or + z[j] * b.
void scale_add_row(float* x, float a, const float* z, std::size_t n);
void scale_add_row(float* x, float a, const float* z, float b, std::size_t n);
float scaled(float x, float a);  // x * a
void divide_row(const float* x, float l, Half* out, std::size_t n);

}  // namespace attnvp::arith
