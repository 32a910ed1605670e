// Bounds of wide rows (golden.h): range of P for each key, and the resulting range of means of V's rows.
#include <algorithm>
#include <cmath>

#include "platform/run/golden/golden_rows.h"

namespace attnvp::job {

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
