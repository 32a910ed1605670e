// Rows of the golden reference in double precision, and the bound of each of their elements (golden.h).
#pragma once

#include <cstdint>
#include <vector>

#include "platform/run/golden/golden.h"
#include "platform/run/golden/golden_kernels.h"

namespace attnvp::job {

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
