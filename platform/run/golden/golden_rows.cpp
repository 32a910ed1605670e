#include <algorithm>
#include <cmath>
#include <limits>

#include "models/arith/number.h"
#include "models/arith/online.h"
#include "models/arith/softmax.h"
#include "platform/run/golden/golden_kernels.h"

namespace attnvp::job {

using arith::Half;

namespace {

// Limits of growth of P by score errors and of the loss of one-byte P. Beyond them the range of weights gives a row's
// bound.
constexpr double kMostGrowth = 1 + 0x1p-5, kMostLoss = 0.25;
constexpr double kLongestError = 100;  // error of a score up to which golden_kernels' `grow` holds

}  // namespace

std::vector<double> widened(const Half* data, std::size_t n) {
  std::vector<float> floats(n);
  arith::floats_from_halves(data, floats.data(), n);
  return {floats.begin(), floats.end()};
}

KeyValueHead::KeyValueHead(const AttentionShape& shape, const std::vector<double>& wide_k,
                           const std::vector<double>& wide_v)
    : keys(shape.keys),
      columns(shape.keys + (shape.sinks.empty() ? 0 : 1)),
      k(shape.width, columns),
      v(columns, shape.values()),
      v_abs(columns, shape.values()),
      k_norm(k.columns()) {
  for (std::size_t j = 0; j < shape.keys; ++j) {
    double square = 0;
    for (std::size_t d = 0; d < shape.width; ++d) {
      const double x = wide_k[j * shape.width + d];
      k.at(d, j) = x;
      square += x * x;
    }
    k_norm[j] = std::sqrt(square);
    // NaN becomes the maximum; rows with NaN are treated separately.
    if (!(k_norm[j] <= k_norm_most)) k_norm_most = k_norm[j];
    for (std::size_t d = 0; d < shape.values(); ++d) {
      double x = wide_v[j * shape.values() + d];
      if (!std::isfinite(x)) {
        not_finite.push_back({j, d});
        x = 0;
      }
      v.at(j, d) = x;
      v_abs.at(j, d) = static_cast<float>(std::abs(x));
      v_most = std::max(v_most, std::abs(x));
    }
  }
}

void BlockEvaluator::begin(std::size_t bh) {
  head_ = static_cast<std::uint32_t>(bh);
  valid_ = shape_.valid.empty() ? shape_.keys : shape_.valid[bh / shape_.heads];
  scales_ = shape_.scales.empty() ? nullptr : &shape_.scales[bh];
}

const ReferenceRows& BlockEvaluator::evaluate(const KeyValueHead& head, const double* q, std::size_t first,
                                              std::size_t rows, bool with_bound) {
  const std::size_t width = head.k.depth(), columns = head.k.columns();
  tokens_ = head.keys;
  keys_ = head.columns;
  ranges_.clear();
  block_.kind.clear();
  block_.not_finite.clear();
  block_.stride = head.v.columns();
  p_.resize(rows * columns);
  d_.resize(columns);
  t_.resize(columns);
  w_.resize(with_bound ? rows * columns : 0);
  multiply(q, rows, width, head.k, p_.data());
  for (std::size_t i = 0; i < rows; ++i) {
    double square = 0;
    for (std::size_t d = 0; d < width; ++d) square += q[i * width + d] * q[i * width + d];
    row_ = {p_.data() + i * columns, t_.data(), with_bound ? w_.data() + i * columns : nullptr, d_.data(), columns};
    if (scales_ != nullptr) {
      for (std::size_t j = 0; j < tokens_; ++j) row_.p[j] *= static_cast<double>(scales_->k[j / scales_->block]);
    }
    if (shape_.cap > 0) {
      for (std::size_t j = 0; j < tokens_; ++j) row_.p[j] = arith::soft_cap(row_.p[j], shape_.cap);
    }
    add_bias(static_cast<std::uint32_t>(first + i));
    hide(static_cast<std::uint32_t>(first + i));
    add_sink(static_cast<std::uint32_t>(first + i));
    mark(head, i, rows);
    double roundings = integers() ? 2 : static_cast<double>(width) + (shape_.scale == 1 ? 0 : 1);
    if (scales_ != nullptr) roundings += 2;
    if (shape_.bias) roundings += 3;
    if (shape_.cap > 0) roundings += 2;  // the product with the scale rounds once even for scale 1
    block_.kind.push_back(row(head, i, std::sqrt(square), roundings, with_bound));
  }
  if (scales_ != nullptr) scale_weights(rows, columns, with_bound);
  block_.output.resize(rows * block_.stride);
  multiply(p_.data(), rows, columns, head.v, block_.output.data());
  if (with_bound) {
    block_.bound.resize(rows * block_.stride);
    multiply(w_.data(), rows, columns, head.v_abs, block_.bound.data());
    // FP32 evaluation: at most (keys + 16) roundings of |v| P sums.
    const float wider = 1.001F + static_cast<float>(keys_) * 0x1p-23F;
    for (float& bound : block_.bound) bound *= wider;
    if (relative_rows()) divide(rows, columns);
    for (const WeightRange& range : ranges_) limit(head, range);
  }
  return block_;
}

// One-byte P is relative to the greatest P of its row; the product is divided by the row sum afterwards.
bool BlockEvaluator::relative_rows() const { return arith::is_relative(shape_.type) && whole_rows(); }

double BlockEvaluator::key_scale() const {
  return scales_ == nullptr ? 1 : static_cast<double>(*std::max_element(scales_->k.begin(), scales_->k.end()));
}

double BlockEvaluator::tiles() const {  // the last tile of the leading keys may also be short
  return std::ceil(static_cast<double>(keys_) / static_cast<double>(keys_per_tile_)) + (shape_.mask.any() ? 1 : 0) +
         (keys_ > tokens_ ? 1 : 0);
}

void BlockEvaluator::add_bias(std::uint32_t row) {
  biases_.clear();
  if (!shape_.bias) return;
  const std::uint32_t queries = shape_.mask.queries, group = static_cast<std::uint32_t>(shape_.queries) / queries;
  const std::uint32_t query = shape_.mask.history + row % queries;
  for (std::size_t j = 0; j < tokens_; ++j) {
    const double bias = shape_.bias(head_ * group + row / queries, query, static_cast<std::uint32_t>(j));
    row_.p[j] += bias;
    biases_.push_back(std::isinf(bias) ? 0 : std::abs(bias));
  }
}

// Masked keys are treated like padding.
void BlockEvaluator::hide(std::uint32_t row) {
  if (valid_ < tokens_) std::fill(row_.p + valid_, row_.p + tokens_, -kInfinity);
  if (!shape_.mask.any()) return;
  if (shape_.blocks.any()) {
    const std::uint32_t b = shape_.mask.block, token = row % shape_.mask.queries;
    for (std::size_t j = 0; j < tokens_; ++j) {
      if (!shape_.blocks.at(token / b, static_cast<std::uint32_t>(j) / b)) row_.p[j] = -kInfinity;
    }
  }
  const std::uint32_t position = shape_.mask.history + row % shape_.mask.queries;
  for (std::uint32_t j = 0; shape_.mask.has_patterns() && j < tokens_; ++j) {
    if (shape_.mask.hides(position, j)) row_.p[j] = -kInfinity;
  }
  const hal::Visible v = hal::visible_rows(shape_.mask, row, 1, static_cast<std::uint32_t>(tokens_));
  std::fill(row_.p + v.head, row_.p + v.first, -kInfinity);
  std::fill(row_.p + v.end, row_.p + tokens_, -kInfinity);
}

// The column behind the keys, whose row of V is zero.
void BlockEvaluator::add_sink(std::uint32_t row) {
  if (shape_.sinks.empty()) return;
  const std::uint32_t queries = shape_.mask.queries, group = static_cast<std::uint32_t>(shape_.queries) / queries;
  row_.p[tokens_] = shape_.sinks[head_ % shape_.heads * group + row / queries];
}

// Marks columns with a visible value that is not finite.
void BlockEvaluator::mark(const KeyValueHead& head, std::size_t row, std::size_t rows) {
  if (head.not_finite.empty()) return;
  block_.not_finite.resize(rows * block_.stride);
  for (const KeyValueHead::Position& place : head.not_finite) {
    if (row_.p[place.key] != -kInfinity) block_.not_finite[row * block_.stride + place.column] = true;
  }
}

// Replaces the scores in row_ by probabilities, and w by the weights of |v| in the bound.
RowKind BlockEvaluator::row(const KeyValueHead& head, std::size_t at, double q_norm, double width, bool with_bound) {
  if (!shape_.softmax) return chain(head, q_norm, width, with_bound);
  const double accumulation = 1.01 * width * kU * q_norm * head.k_norm_most * key_scale();
  RowKind kind = RowKind::kFinite;
  if (!(greatest_magnitude(row_.p, row_.n) + accumulation < kOverflow)) kind = overflow(head, q_norm, width);
  if (kind != RowKind::kNan) {
    fill(head, at, q_norm, width, with_bound);
  } else {
    std::fill(row_.p, row_.p + row_.n, 0.0);
    if (with_bound) std::fill(row_.w, row_.w + row_.n, 0.0F);
  }
  return kind;
}

// Without softmax, scores are kept in 24 bits.
RowKind BlockEvaluator::chain(const KeyValueHead& head, double q_norm, double width, bool with_bound) {
  const double roundings = 1.01 * static_cast<double>(keys_) * kU;
  RowKind kind = RowKind::kFinite;
  for (std::size_t j = 0; j < row_.n; ++j) {
    double& s = row_.p[j];
    if (j >= keys_) s = 0;
    const double accumulation = 1.01 * width * kU * q_norm * head.k_norm[j];
    if (!std::isfinite(s)) {
      kind = RowKind::kNan;
      s = 0;
    } else if (!(std::abs(s) + accumulation < kOverflow) && kind == RowKind::kFinite) {
      kind = RowKind::kOverflows;
    }
    const double stored = shape_.rounds ? arith::float_from_half(arith::half_from_double(s)) : s;
    s = static_cast<double>(static_cast<float>(stored));
    const double d = accumulation + (kH + kU) * (std::abs(s) + accumulation) + kHalfTiny;
    if (with_bound) row_.w[j] = j < keys_ ? shortened_up(static_cast<float>(d + roundings * (std::abs(s) + d))) : 0;
  }
  return kind;
}

// Classifies a row with special or huge scores.
RowKind BlockEvaluator::overflow(const KeyValueHead& head, double q_norm, double width) {
  const double unit = 1.01 * width * kU * q_norm * key_scale();
  double most = -kInfinity, error = 0;
  RowKind kind = RowKind::kFinite;
  for (std::size_t j = 0; j < keys_; ++j) {
    const double s = row_.p[j];
    if (std::isnan(s) || s == kInfinity) return RowKind::kNan;
    // Only the accumulation error decides on which side of the threshold the sum lies.
    const double accumulation = std::isinf(s) ? 0.0 : unit * head.k_norm[j];
    if (s + accumulation >= kOverflow) kind = RowKind::kOverflows;
    if (s > most) {
      most = s;
      error = accumulation;
    }
  }
  if (std::isinf(most)) return RowKind::kNan;  // all scores are -inf
  return most - error <= -kOverflow ? RowKind::kOverflows : kind;
}

void BlockEvaluator::fill(const KeyValueHead& head, std::size_t at, double q_norm, double width, bool with_bound) {
  std::fill(row_.p + keys_, row_.p + row_.n, -kInfinity);  // excludes padding
  const double most = greatest(row_.p, row_.n);
  if (!with_bound) {
    if (shape_.rounds) round_scores();
    probabilities(row_.p, row_.n, shape_.rounds ? greatest(row_.p, row_.n) : most);
    if (shape_.rounds) round_probabilities();
    return;
  }
  errors(row_.p, head.k_norm.data(), 1.01 * width * kU * q_norm * key_scale(), d_.data(), row_.n);
  for (std::size_t j = 0; j < biases_.size(); ++j) d_[j] += 4.1 * kU * biases_[j];
  for (std::size_t j = tokens_; j < keys_; ++j) d_[j] = 0;
  const SoftmaxError error = softmax_error();
  scores_.assign(row_.p, row_.p + row_.n);
  probabilities(row_.p, row_.n, most);

  const double g = grow(row_), grown_by = g * (1.0 + error.all());
  const Grown grown = scale(row_, grown_by);
  const Losses lost = losses(std::min(grown.greatest, 1.0));
  weigh(row_, lost.once, lost.again, 1.01 * roundings(grown.above) * kU);
  bool wide = g * grown_by > kMostGrowth || greatest(d_.data(), row_.n) > kLongestError;
  if (!wide && relative_rows()) {
    double all = 0;
    for (std::size_t j = 0; j < keys_; ++j) all += static_cast<double>(row_.w[j]);
    wide = all > kMostLoss;
  }
  if (wide) ranges_.push_back(weight_range_of(at, error));
}

void BlockEvaluator::round_scores() {
  for (std::size_t j = 0; j < keys_; ++j) row_.p[j] = arith::float_from_half(arith::half_from_double(row_.p[j]));
}

// To FP16, then to the type of P, relative to the greatest.
void BlockEvaluator::round_probabilities() {
  const double most = greatest(row_.p, row_.n);
  const double unit = arith::is_relative(shape_.type) ? static_cast<double>(arith::kept_one(shape_.type)) / most : 1;
  std::vector<float> row(keys_);
  for (std::size_t j = 0; j < keys_; ++j) {
    row[j] = static_cast<float>(unit * arith::float_from_half(arith::half_from_double(row_.p[j])));
  }
  std::vector<unsigned char> stored(keys_ * hal::element_bytes(shape_.type));
  arith::from_floats(shape_.type, row.data(), stored.data(), keys_);
  arith::floats_from(shape_.type, stored.data(), row.data(), keys_);
  for (std::size_t j = 0; j < keys_; ++j) row_.p[j] = static_cast<double>(row[j]) / unit;
}

// eps of step 3 for the scores in row_, whose errors are d_.
BlockEvaluator::SoftmaxError BlockEvaluator::softmax_error() const {
  if (whole_rows()) return {0, arith::kSoftmaxRelativeError};
  double below = -kInfinity;  // the running maximum is at least this
  double steps = 0;           // 1 + changes
  // Tiles begin with the first visible keys of any row: leading keys, then the others.
  const hal::Visible all = hal::visible_rows(shape_.mask, 0, static_cast<std::uint32_t>(shape_.queries),
                                             static_cast<std::uint32_t>(tokens_));
  std::size_t end = 0;
  for (std::size_t j = all.head > 0 ? 0 : all.first; j < all.end; j = end == all.head && end > 0 ? all.first : end) {
    end = std::min<std::size_t>(j + keys_per_tile_, j < all.head ? all.head : all.end);
    double high = -kInfinity, low = -kInfinity;
    for (std::size_t i = j; i < end; ++i) {
      high = std::max(high, row_.p[i] + d_[i]);
      low = std::max(low, row_.p[i] - d_[i]);
    }
    if (steps == 0 || merged_ || high > below) ++steps;
    below = std::max(below, low);
  }
  if (keys_ > tokens_) ++steps;
  return {0x1p-15 + steps * arith::kExpStepError, static_cast<double>(keys_) * 0x1p-39 + (3 * tiles() + 1) * kU};
}

// Losses of P by rounding to FP16 and to another type; `greatest`: greatest P of the row.
BlockEvaluator::Losses BlockEvaluator::losses(double greatest) const {
  const bool relative = arith::is_relative(shape_.type);
  Losses lost{{kH, whole_rows() && !relative ? kHalfTiny : kHalfTiny * greatest}, {0, 0}};
  if (shape_.type != hal::ElementType::kFp16) {
    const arith::Rounding rounding = arith::rounding_of(shape_.type);
    lost.again = {rounding.relative * (1 + kH),
                  relative ? rounding.least / static_cast<double>(arith::kept_one(shape_.type)) * greatest : kHalfTiny};
  }
  return lost;
}

// FP32 roundings in step 4; `above`: number of P that FP16 does not round to 0.
double BlockEvaluator::roundings(std::size_t above) const {
  double sums = static_cast<double>(whole_rows() ? above : std::min(keys_, keys_per_tile_));
  if (relative_rows()) sums = 2 * static_cast<double>(keys_) + 4;
  if (integers()) sums = 4;
  if (scales_ != nullptr) sums += 2 * std::ceil(static_cast<double>(keys_) / static_cast<double>(scales_->block)) + 2;
  return whole_rows() ? sums : sums + 3 * tiles() + 1;
}

// Sums of products with scaled rows of V: the scales multiply the weights, which keep 42 bits.
void BlockEvaluator::scale_weights(std::size_t rows, std::size_t columns, bool with_bound) {
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < tokens_; ++j) {
      const float scale = scales_->v[j / scales_->block];
      double& p = p_[i * columns + j];
      p = rounded_down(p * static_cast<double>(scale));
      if (!with_bound) continue;
      float& w = w_[i * columns + j];
      w = shortened_up(w * scale * (1 + 0x1p-22F));
    }
  }
}

// Step 4 for rows of one-byte P.
void BlockEvaluator::divide(std::size_t rows, std::size_t columns) {
  for (std::size_t i = 0; i < rows; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < keys_; ++j) sum += static_cast<double>(w_[i * columns + j]) / value_scale(j);
    for (std::size_t d = 0; d < block_.stride; ++d) {
      float& bound = block_.bound[i * block_.stride + d];
      const double whole = static_cast<double>(bound) + sum * std::abs(block_.output[i * block_.stride + d]);
      bound = sum < 1 ? static_cast<float>(whole / (1 - sum) * (1 + 0x1p-20)) : std::numeric_limits<float>::infinity();
    }
  }
}

// Bounds of wide rows (golden.h): range of P for each key, and the resulting range of means of V's rows.

namespace {

constexpr double kLeastShare = 0x1p-46;  // of all weights; keys with a smaller total are in the bound only

}  // namespace

// For the row whose scores are in scores_, with errors d_.
BlockEvaluator::WeightRange BlockEvaluator::weight_range_of(std::size_t row, const SoftmaxError& error) {
  WeightRange range{row, {}, {}, {}, {}};
  double certain = -kInfinity, possible = -kInfinity;  // the greatest score
  for (std::size_t j = 0; j < keys_; ++j) {
    d_[j] += 1.001 * error.weights;  // a product of as many factors
    if (scores_[j] - d_[j] > -kOverflow) certain = std::max(certain, scores_[j] - d_[j]);
    possible = std::max(possible, scores_[j] + d_[j]);
  }
  low_.resize(row_.n);
  high_.resize(row_.n);
  weight_range(scores_.data(), d_.data(), std::isinf(certain) ? possible : certain, low_.data(), high_.data(), row_.n);
  double least = 0, most = 0;  // sum of all weights; greatest weight
  for (std::size_t j = 0; j < keys_; ++j) {
    least += low_[j];
    most = std::max(most, high_[j]);
  }
  for (std::size_t j = 0; j < keys_; ++j) {
    if (high_[j] > kLeastShare / static_cast<double>(keys_)) range.keys.push_back(j);  // of a sum of at least 1
  }

  const double sums = error.sums / (1 - std::min(error.sums, 0.5));
  const Losses lost = losses(1);
  const double kept_once = 1 - lost.once.relative, kept_again = 1 - lost.again.relative;
  std::size_t above = 0;
  for (const std::size_t j : range.keys) {
    double low = low_[j], high = high_[j] * (1 + sums);
    if (relative_rows()) {
      // Rounding to nearest changes a number by at most its magnitude.
      const double off = (lost.once.least * 2 + lost.again.least) * most * (1 + sums);
      high *= (1 + lost.once.relative) * (1 + lost.again.relative);
      high += std::min(high, off);
      low = std::max(0.0, low * (1 - error.sums) * kept_once * kept_again - off);
      range.lost.push_back(0);
    } else {
      const double p = high / (high_[j] + std::max(0.0, least - low));
      if (p > kHalfTiny) ++above;
      range.lost.push_back(std::min(p * (1 + kUp), lost.once.least + lost.again.least));
    }
    range.low.push_back(low);
    range.high.push_back(relative_rows() ? high : high_[j]);
  }
  if (!relative_rows()) range.relative = sums + (1 + sums) * (lost.once.relative + lost.again.relative);
  range.roundings = roundings(above);
  return range;
}

// Bound of a row from the range of weighted means of V's rows.
void BlockEvaluator::limit(const KeyValueHead& head, const WeightRange& range) {
  constexpr std::size_t kColumns = Panels<double>::kColumns;
  const std::size_t n = range.keys.size();
  double greatest_scale = 1;
  if (scales_ != nullptr) greatest_scale = static_cast<double>(*std::max_element(scales_->v.begin(), scales_->v.end()));
  const double left_out = 4 * kLeastShare * head.v_most * greatest_scale;  // twice their part in either mean
  values_.resize(n * kColumns);
  negated_.resize(n * kColumns);
  absolute_.resize(n * kColumns);
  for (std::size_t first = 0; first < block_.stride; first += kColumns) {
    double greatest[kColumns] = {}, lost[kColumns] = {}, up[kColumns], down[kColumns], magnitude[kColumns];
    const double* panel = head.v.data() + first * head.v.depth();
    for (std::size_t i = 0; i < n; ++i) {
      const double scale = value_scale(range.keys[i]);
      for (std::size_t c = 0; c < kColumns; ++c) {
        const double x = panel[range.keys[i] * kColumns + c] * scale;
        values_[i * kColumns + c] = x;
        negated_[i * kColumns + c] = -x;
        absolute_[i * kColumns + c] = std::abs(x);
        greatest[c] = std::max(greatest[c], std::abs(x));
        lost[c] += range.lost[i] * std::abs(x);
      }
    }
    greatest_mean(values_.data(), range.low.data(), range.high.data(), n, up);
    greatest_mean(negated_.data(), range.low.data(), range.high.data(), n, down);
    greatest_mean(absolute_.data(), range.low.data(), range.high.data(), n, magnitude);
    for (std::size_t c = 0; c < kColumns; ++c) {
      const double output = block_.output[range.row * block_.stride + first + c];
      const double spread = std::max({up[c] - output, output + down[c], 0.0});
      const double off = range.relative * magnitude[c] + lost[c];
      const double evaluation = static_cast<double>(n + 16) * 0x1p-50 * greatest[c] + left_out;
      const double whole = spread + off + 1.01 * range.roundings * kU * (magnitude[c] + off) + evaluation;
      block_.bound[range.row * block_.stride + first + c] = static_cast<float>(whole * (1 + 0x1p-20));
    }
  }
}

}  // namespace attnvp::job
