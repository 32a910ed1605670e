// Inner loops of the golden reference. Sums have a fixed order and no rounding operations are fused, so every host and
// every variant (models/arith/isa.h) computes the same bits.
#pragma once

#include <boost/align/aligned_allocator.hpp>
#include <cstddef>
#include <limits>
#include <vector>

#include "models/arith/half.h"

namespace attnvp::job {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kH = 0x1p-11;         // half a unit in the last place of 1.0 in FP16
constexpr double kU = 0x1p-24;         // half a unit in the last place of 1.0 in FP32
constexpr double kHalfTiny = 0x1p-25;  // rounding error of an FP16 subnormal
constexpr double kOverflow = 65520.0;  // rounds to infinity in FP16
constexpr double kUp = 0x1p-9;         // relative bound of rounding up twice

// Matrix of `depth` rows in panels of 8 columns, padded with zeros: the access order of a product.
template <typename T>
class Panels {
 public:
  static constexpr std::size_t kColumns = 8;
  Panels(std::size_t depth, std::size_t columns)
      : depth_(depth), columns_((columns + kColumns - 1) / kColumns * kColumns), data_(depth * columns_) {}
  T& at(std::size_t row, std::size_t column) {
    return data_[(column / kColumns * depth_ + row) * kColumns + column % kColumns];
  }
  std::size_t depth() const { return depth_; }
  std::size_t columns() const { return columns_; }  // padded
  const T* data() const { return data_.data(); }

 private:
  std::size_t depth_, columns_;
  std::vector<T, boost::alignment::aligned_allocator<T, 64>> data_;  // aligned to cache lines
};

// c = a.b: `rows` rows of `stride` numbers, the first b.depth() of which count; result rows of b.columns(). Sums are in
// order of depth. Products are exact, so that fused additions change nothing. Double: an FP16 number times up to 42
// bits. Float: an FP16 number times up to 13 bits, at least kLeastWeight.
void multiply(const double* a, std::size_t rows, std::size_t stride, const Panels<double>& b, double* c);
void multiply(const float* a, std::size_t rows, std::size_t stride, const Panels<float>& b, float* c);
constexpr double kLeastWeight = 0x1p-100;

// One row of n scores, n a multiple of 8.
struct ScoreRow {
  double* p;        // scores, then probabilities
  double* t;        // P e^d, then the upper limit of the machine's probability
  float* w;         // weights of |v| in the bound, rounded up to 13 bits
  const double* d;  // errors of the scores
  std::size_t n;
};
double greatest(const double* x, std::size_t n);
double greatest_magnitude(const double* x, std::size_t n);  // NaN if any is NaN
void errors(const double* scores, const double* k_norm, double unit, double* d, std::size_t n);
// Rounded down to 42 bits, so that products with FP16 numbers are exact.
void probabilities(double* p, std::size_t n, double greatest);
double rounded_down(double x);     // to 42 bits
float shortened_up(float x);       // to 13 bits, at least kLeastWeight
double grow(const ScoreRow& row);  // t = p e^d; returns their sum
struct Grown {
  std::size_t above;  // number that exceed 2^-25
  double greatest;
};
Grown scale(const ScoreRow& row, double factor);  // scales t
// Loss of P by rounding: at most the relative part, or `least`. `again`: by a second rounding to another type.
struct Loss {
  double relative, least;
};
void weigh(const ScoreRow& row, Loss once, Loss again, double sum_error);

// Least and greatest weights e^(s - reference) for scores s with errors up to d, at most e^600. The least is 0 if the
// score may round to -inf. n is a multiple of 8.
void weight_range(const double* scores, const double* d, double reference, double* low, double* high, std::size_t n);
// Greatest sum_j a_j v_j / sum_j a_j over all low_j <= a_j <= high_j, high_j > 0, for each of Panels::kColumns columns
// of v, n rows.
void greatest_mean(const double* v, const double* low, const double* high, std::size_t n, double* result);

}  // namespace attnvp::job
