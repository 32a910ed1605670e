// The golden reference's inner loops. Sums run in a fixed order and nothing is contracted that rounds, so that every
// host gets the same bits, whichever variant runs (models/arith/isa.h).
#pragma once

#include <boost/align/aligned_allocator.hpp>
#include <cstddef>
#include <limits>
#include <vector>

#include "models/arith/half.h"

namespace attnvp::job {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kH = 0x1p-11;         // half a unit in the last place of 1.0 in FP16
constexpr double kU = 0x1p-24;         // the same in FP32
constexpr double kHalfTiny = 0x1p-25;  // rounding error of an FP16 subnormal
constexpr double kOverflow = 65520.0;  // rounds to infinity in FP16
constexpr double kUp = 0x1p-9;         // a number that is rounded twice may be rounded up by such a part of itself

// A matrix of `depth` rows, its columns in panels of 8 and padded with zeros: what a product reads one after the other.
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
  std::vector<T, boost::alignment::aligned_allocator<T, 64>> data_;  // to lines of caches
};

// c = a.b: `rows` rows of `stride` numbers of which b.depth() count; rows of b.columns(). Sums in the order of the
// depth. All products are numbers of the type, so that fusing them with the additions changes nothing: in double those
// of an FP16 number with one of up to 42 bits, in float with one of up to 13 bits, from kLeastWeight on.
void multiply(const double* a, std::size_t rows, std::size_t stride, const Panels<double>& b, double* c);
void multiply(const float* a, std::size_t rows, std::size_t stride, const Panels<float>& b, float* c);
constexpr double kLeastWeight = 0x1p-100;

// One row of n scores, n a multiple of 8.
struct ScoreRow {
  double* p;        // scores, then probabilities
  double* t;        // P e^d, then the greatest that the machine's probability can be
  float* w;         // weights of |v| in the bound: rounded up to 13 bits
  const double* d;  // errors of the scores
  std::size_t n;
};
double greatest(const double* x, std::size_t n);
double greatest_magnitude(const double* x, std::size_t n);  // NaN where there is one
void errors(const double* scores, const double* k_norm, double unit, double* d, std::size_t n);
// Rounded down to 42 bits, so that products with FP16 numbers are exact.
void probabilities(double* p, std::size_t n, double greatest);
double rounded_down(double x);     // to as many
float shortened_up(float x);       // as the weights are: to 13 bits, at least kLeastWeight
double grow(const ScoreRow& row);  // t = p e^d; their sum
struct Grown {
  std::size_t above;  // how many exceed 2^-25
  double greatest;
};
Grown scale(const ScoreRow& row, double factor);  // of t
// What P loses when it is rounded: at most a part `relative` of it, or `least`; and again, to another type.
struct Loss {
  double relative, least;
};
void weigh(const ScoreRow& row, Loss once, Loss again, double sum_error);

// The least and the greatest that the weights e^(s - reference) can be where a score s is off by up to d; no more than
// e^600, and no least one of a score that may round to -inf. n is a multiple of 8.
void weight_range(const double* scores, const double* d, double reference, double* low, double* high, std::size_t n);
// The greatest of sum_j a_j v_j / sum_j a_j over all low_j <= a_j <= high_j, high_j > 0: of each of Panels::kColumns
// columns of v, n rows of so many.
void greatest_mean(const double* v, const double* low, const double* high, std::size_t n, double* result);

}  // namespace attnvp::job
