// Layer operations of the VEC engine: norms, sums, activations, rotary embedding. FP16 inputs, FP32 operations, each
// rounded once (IEEE, to nearest even), then one rounding to FP16. All hosts give the same bits: in double only sums,
// products, quotients and square roots are used, which IEEE 754 defines.
//
//  norm       mean m and variance v (or mean square) of the row: exact sums of x and x^2 over n, each rounded to FP32
//             through double; independent of their order. r = 1 / sqrt(v + epsilon): the sum rounded, root and quotient
//             in double, r rounded. y = ((x - m) * r) * gamma + beta; without mean (x * r) * gamma
//  add, bias  x + z
//  activate   f(x), computed in double, rounded to FP32; with a factor f(x) * z
//  rotate     elements x_i and x_(i + h) of each head, h being half of its width: x_i * c_i - x_(i + h) * s_i and
//             x_i * s_i + x_(i + h) * c_i, products rounded
//
// An infinity or NaN in a normalised row makes the whole row NaN; otherwise special values follow IEEE 754. Every NaN
// is 0x7E00.
#pragma once

#include <cstddef>

#include "firmware/hal/descriptor.h"
#include "models/arith/half.h"

namespace attnvp::arith {

// e^x with a relative error below 1e-14 if the result is normal; erf(x) with an absolute error below 1e-14.
double exp_of(double x);
double erf_of(double x);

// Error bound of activation(): half an ulp of FP32, and a part of |x| for the operations in double.
inline constexpr double kActivationError = 1e-14;  // relative to |x|
float activation(hal::Activation f, Half x);       // by table

// Rows of n elements, n < 2^23; in == out and out == z are allowed.
struct NormVectors {
  const float* gamma;
  const float* beta;  // nullptr: the row is not centred
};
void norm_row(const Half* in, Half* out, std::size_t n, const NormVectors& vectors, float epsilon);
void add_row(const Half* x, const Half* z, Half* out, std::size_t n);
void activate_row(hal::Activation f, const Half* in, const Half* z, Half* out, std::size_t n);  // z may be nullptr
// n is a multiple of `head`, which is even. `angles`: head / 2 cosines, then as many sines.
void rotate_row(const Half* in, const Half* angles, Half* out, std::size_t n, std::size_t head);

}  // namespace attnvp::arith
