// Inner loops, rows of scores and stored values of the golden reference. Sums have a fixed order and no rounding
// operations are fused, so every host and every variant (models/arith/isa.h) computes the same bits.
#pragma once

#include <algorithm>
#include <boost/align/aligned_allocator.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "firmware/hal/descriptor.h"
#include "models/arith/half.h"
#include "models/arith/number.h"
#include "platform/run/golden/golden.h"

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

// Values in double precision that the golden checks of operations share, and their rounding bounds
// (platform/run/operations.h).

inline constexpr double kOneRounding = 1.01 * kU;  // 1.01 covers products of roundings

// FP32 error `added`, and the rounding of the result.
inline double rounded(double expected, double added) { return added + kH * (std::abs(expected) + added) + kHalfTiny; }

inline double activation_of(hal::Activation f, double x) {
  constexpr double kPi = 3.14159265358979323846;
  switch (f) {
    case hal::Activation::kRelu:
      return std::max(x, 0.0);
    case hal::Activation::kSilu:
      return x / (1 + std::exp(-x));
    case hal::Activation::kGelu:
      return x / 2 * std::erfc(-x / std::sqrt(2.0));
    case hal::Activation::kGeluTanh:
      return x / (1 + std::exp(-2 * std::sqrt(2 / kPi) * (x + 0.044715 * x * x * x)));
  }
  return x;
}

// Conversion of FP16 numbers to a type: greater ones become its greatest.
class Conversion {
 public:
  explicit Conversion(hal::ElementType type) : loss_(arith::rounding_of(type)) {
    constexpr float kGreat = 1e30F;
    unsigned char stored[sizeof(float)] = {};
    float largest = 0;
    arith::from_floats(type, &kGreat, stored, 1);
    arith::floats_from(type, stored, &largest, 1);
    greatest_ = std::min(largest, kGreatestHalf);
  }
  double value(double x) const { return std::clamp(x, -greatest_, greatest_); }
  // `before`: error of the number that is converted to `value`.
  double error(double value, double before) const {
    const double added = before + 2 * kOneRounding * std::abs(value);
    return std::max(loss_.relative * (std::abs(value) + added), loss_.least) + added;
  }

 private:
  static constexpr float kGreatestHalf = 65504;
  arith::Rounding loss_;
  double greatest_ = 0;
};

// Rows of the golden reference in double precision, and the bound of each of their elements (golden.h).

std::vector<double> widened(const arith::Half* data, std::size_t n);
inline std::vector<double> widened(const double* data, std::size_t n) { return {data, data + n}; }

// kOverflows: the reference is finite, but scores that round to an infinity in FP16 may make the row NaN.
enum class RowKind { kFinite, kOverflows, kNan };

// K and V of one head, with norms and maxima for its rows.
struct KeyValueHead {
  struct Position {
    std::size_t key, column;
  };

  KeyValueHead(const AttentionShape& shape, const std::vector<double>& wide_k, const std::vector<double>& wide_v);

  std::size_t keys, columns;  // of scores: the keys, and a sink
  Panels<double> k;           // transposed: width x keys
  Panels<double> v;           // keys x width, 0 where it is not finite
  Panels<float> v_abs;
  std::vector<double> k_norm;  // padded like the columns of k
  double k_norm_most = 0, v_most = 0;
  std::vector<Position> not_finite;  // of V
};

// Rows of `stride` numbers.
struct ReferenceRows {
  std::size_t stride = 0;
  std::vector<double> output;
  std::vector<float> bound;  // T in golden.h
  std::vector<RowKind> kind;
  std::vector<bool> not_finite;  // a visible value of V is not finite; empty: none

  bool number(std::size_t row, std::size_t column) const {
    return kind[row] != RowKind::kNan && (not_finite.empty() || !not_finite[row * stride + column]);
  }
};

class BlockEvaluator {
 public:
  BlockEvaluator(const AttentionShape& shape, const OnePass& softmax)
      : shape_(shape), keys_per_tile_(softmax.keys_per_tile), merged_(softmax.merged) {}

  // Selects the head of K and V, counted over all batches, for the following rows.
  void begin(std::size_t bh);
  // Evaluates rows of that head from `first`; `q` includes the scale.
  const ReferenceRows& evaluate(const KeyValueHead& head, const double* q, std::size_t first, std::size_t rows,
                                bool with_bound);

 private:
  // Range of weights in a row in which score errors decide which keys count.
  struct WeightRange {
    std::size_t row;
    std::vector<std::size_t> keys;  // keys with weights that count
    std::vector<double> low, high;
    std::vector<double> lost;  // rounding loss of P beyond the part `relative`
    double relative = 0, roundings = 0;
  };
  struct Losses {
    Loss once, again;
  };
  struct SoftmaxError {
    double weights, sums;  // error of e^(S - M), which cancels if all weights have it; error of the sums
    double all() const { return 2 * weights + sums; }
  };

  bool integers() const { return shape_.type == hal::ElementType::kInt8; }
  bool whole_rows() const { return keys_per_tile_ == 0; }
  bool relative_rows() const;
  double value_scale(std::size_t key) const {
    return scales_ == nullptr || key >= tokens_ ? 1 : static_cast<double>(scales_->v[key / scales_->block]);
  }
  double key_scale() const;
  double tiles() const;

  void add_bias(std::uint32_t row);
  void hide(std::uint32_t row);
  void add_sink(std::uint32_t row);
  void mark(const KeyValueHead& head, std::size_t row, std::size_t rows);
  RowKind row(const KeyValueHead& head, std::size_t at, double q_norm, double width, bool with_bound);
  RowKind chain(const KeyValueHead& head, double q_norm, double width, bool with_bound);
  RowKind overflow(const KeyValueHead& head, double q_norm, double width);
  void fill(const KeyValueHead& head, std::size_t at, double q_norm, double width, bool with_bound);
  void round_scores();
  void round_probabilities();
  SoftmaxError softmax_error() const;
  Losses losses(double greatest) const;
  double roundings(std::size_t above) const;
  void scale_weights(std::size_t rows, std::size_t columns, bool with_bound);
  void divide(std::size_t rows, std::size_t columns);
  WeightRange weight_range_of(std::size_t row, const SoftmaxError& error);
  void limit(const KeyValueHead& head, const WeightRange& range);

  AttentionShape shape_;
  std::size_t keys_per_tile_, valid_ = 0;
  std::size_t tokens_ = 0, keys_ = 0;  // keys of the layer; columns of scores, a sink included
  std::uint32_t head_ = 0;
  const AttentionShape::RowScales* scales_ = nullptr;
  std::vector<double> biases_;  // magnitudes for the current row
  bool merged_;
  ReferenceRows block_;
  ScoreRow row_{};
  std::vector<double> p_, d_, t_, scores_;
  std::vector<float> w_;
  std::vector<WeightRange> ranges_;
  std::vector<double> low_, high_, values_, negated_, absolute_;
};

}  // namespace attnvp::job
