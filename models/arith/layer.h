// What the VEC engine does between a layer's products: norms, sums, activations, rotary embedding. FP16 in, FP32
// inside, each operation rounded once (IEEE, to nearest even), and one rounding to FP16 at the end. Every host gets the
// same bits: doubles take only sums, products, quotients and roots, which IEEE 754 defines.
//
//   norm       mean m and variance v (or mean square) of the row: the exact sums of x and x^2, so in any order, over n;
//              each rounded to FP32, by way of double. r = 1 / sqrt(v + epsilon): the sum rounded, root and quotient
//              in double, r rounded. y = ((x - m) * r) * gamma + beta; without mean (x * r) * gamma
//   add        x + z
//   activate   f(x), of which the double below is rounded to FP32; with a factor f(x) * z
//   rotate     of each head's elements x_i and x_(i + h), h being half of its width: x_i * c_i - x_(i + h) * s_i and
//              x_i * s_i + x_(i + h) * c_i, products rounded
//
// An infinity or NaN in a row that is normalised makes all of it NaN; elsewhere special values are IEEE's. Every NaN is
// 0x7E00.
#pragma once

#include <cstddef>

#include "firmware/hal/descriptor.h"
#include "models/arith/half.h"

namespace attnvp::arith {

// e^x, its relative error below 1e-14 where it is a normal number; erf(x), its absolute error below 1e-14.
double exp_of(double x);
double erf_of(double x);

// Error against the function itself: half a unit in FP32's last place, and a part of |x| that double loses.
inline constexpr double kActivationError = 1e-14;  // of |x|
float activation(hal::Activation f, Half x);       // by table

// Rows of n elements; in == out is allowed, and out == z. n < 2^23.
struct NormVectors {
  const float* gamma;
  const float* beta;  // nullptr: the row is not centred
};
void norm_row(const Half* in, Half* out, std::size_t n, const NormVectors& vectors, float epsilon);
void add_row(const Half* x, const Half* z, Half* out, std::size_t n);
void activate_row(hal::Activation f, const Half* in, const Half* z, Half* out, std::size_t n);  // z may be nullptr
// n is a multiple of `head`, which is even; the angles are head / 2 cosines, then as many sines.
void rotate_row(const Half* in, const Half* angles, Half* out, std::size_t n, std::size_t head);

}  // namespace attnvp::arith
