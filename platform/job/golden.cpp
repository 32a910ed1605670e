#include "platform/job/golden.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "models/arith/number.h"
#include "models/arith/online.h"
#include "models/arith/soft_cap.h"
#include "models/arith/softmax.h"
#include "platform/job/golden_kernels.h"

namespace attnvp::job {
namespace {

using arith::Half;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<double> widened(const Half* data, std::size_t n) {
  std::vector<float> floats(n);
  arith::floats_from_halves(data, floats.data(), n);
  return {floats.begin(), floats.end()};
}

enum class RowKind { kFinite, kNan, kEither };

// K and V of one head and what the rows of a block need of them.
struct Head {
  std::size_t keys;
  Panels<double> k;  // transposed: width x keys
  Panels<double> v;  // keys x width
  Panels<float> v_abs;
  std::vector<double> k_norm;  // padded as k's columns are
  double k_norm_most = 0;
  std::vector<bool> v_finite;  // per column

  Head(const AttentionShape& shape, const Half* k_bits, const Half* v_bits)
      : keys(shape.keys),
        k(shape.width, shape.keys),
        v(shape.keys, shape.values()),
        v_abs(shape.keys, shape.values()),
        k_norm(k.columns()),
        v_finite(shape.values(), true) {
    const std::vector<double> wide_k = widened(k_bits, shape.keys * shape.width);
    const std::vector<double> wide_v = widened(v_bits, shape.keys * shape.values());
    for (std::size_t j = 0; j < shape.keys; ++j) {
      double square = 0;
      for (std::size_t d = 0; d < shape.width; ++d) {
        const double x = wide_k[j * shape.width + d];
        k.at(d, j) = x;
        square += x * x;
      }
      for (std::size_t d = 0; d < shape.values(); ++d) {
        if (!std::isfinite(wide_v[j * shape.values() + d])) v_finite[d] = false;
      }
      k_norm[j] = std::sqrt(square);
      // As a maximum that a NaN takes part in: a row with one is looked at closely anyway.
      if (!(k_norm[j] <= k_norm_most)) k_norm_most = k_norm[j];
    }
    for (std::size_t j = 0; j < shape.keys; ++j) {
      for (std::size_t d = 0; d < shape.values(); ++d) {
        const double x = v_finite[d] ? wide_v[j * shape.values() + d] : 0;
        v.at(j, d) = x;
        v_abs.at(j, d) = static_cast<float>(std::abs(x));
      }
    }
  }
};

// The reference of some rows of one head and, for the check, the bound T of step 4: rows of `stride` numbers.
struct Block {
  std::size_t stride = 0;
  std::vector<double> output;
  std::vector<float> bound;
  std::vector<RowKind> kind;
};

class BlockEvaluator {
 public:
  BlockEvaluator(const AttentionShape& shape, const OnePass& softmax)
      : shape_(shape), keys_per_tile_(softmax.keys_per_tile), merged_(softmax.merged) {}

  // Of which batch's head of K and V the next rows are.
  void begin(std::size_t bh) {
    head_ = static_cast<std::uint32_t>(bh);
    valid_ = shape_.valid.empty() ? shape_.keys : shape_.valid[bh / shape_.heads];
    scales_ = shape_.scales.empty() ? nullptr : &shape_.scales[bh];
  }

  // Rows of a head from `first` on.
  const Block& evaluate(const Head& head, const double* q, std::size_t first, std::size_t rows, bool with_bound) {
    const std::size_t width = head.k.depth(), columns = head.k.columns();
    keys_ = head.keys;
    block_.kind.clear();
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
        for (std::size_t j = 0; j < keys_; ++j) row_.p[j] *= static_cast<double>(scales_->k[j / scales_->block]);
      }
      if (shape_.cap > 0) {
        for (std::size_t j = 0; j < keys_; ++j) row_.p[j] = arith::soft_cap(row_.p[j], shape_.cap);
      }
      add_bias(static_cast<std::uint32_t>(first + i));
      hide(static_cast<std::uint32_t>(first + i));
      double roundings = integers() ? 2 : static_cast<double>(width) + (shape_.scale == 1 ? 0 : 1);
      if (scales_ != nullptr) roundings += 2;
      if (shape_.bias) roundings += 3;
      if (shape_.cap > 0) roundings += 2;  // the product with the scale is one even if that is 1
      block_.kind.push_back(row(head, std::sqrt(square), roundings, with_bound));
    }
    if (scales_ != nullptr) scale_weights(rows, columns, with_bound);
    block_.output.resize(rows * block_.stride);
    multiply(p_.data(), rows, columns, head.v, block_.output.data());
    if (with_bound) {
      block_.bound.resize(rows * block_.stride);
      multiply(w_.data(), rows, columns, head.v_abs, block_.bound.data());
      // FP32 evaluation: rounding of |v| P sums, at most (keys + 16) roundings.
      const float wider = 1.001F + static_cast<float>(keys_) * 0x1p-23F;
      for (float& bound : block_.bound) bound *= wider;
      if (relative_rows()) divide(rows, columns);
    }
    return block_;
  }

 private:
  bool integers() const { return shape_.type == hal::ElementType::kInt8; }
  // P is kept relative to its row's greatest, and divided by its sum when it has been used.
  bool relative_rows() const { return arith::is_relative(shape_.type) && keys_per_tile_ == 0; }

  // Step 4 of such rows.
  void divide(std::size_t rows, std::size_t columns) {
    for (std::size_t i = 0; i < rows; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < keys_; ++j) {
        const double w = static_cast<double>(w_[i * columns + j]);
        sum += scales_ == nullptr ? w : w / static_cast<double>(scales_->v[j / scales_->block]);
      }
      for (std::size_t d = 0; d < block_.stride; ++d) {
        float& bound = block_.bound[i * block_.stride + d];
        const double whole = static_cast<double>(bound) + sum * std::abs(block_.output[i * block_.stride + d]);
        bound = sum < 1 ? static_cast<float>(whole / (1 - sum) * (1 + 0x1p-20)) : 1e30F;
      }
    }
  }

  // Sums of products with rows of V that have scales: the weights take them, in 42 bits as before.
  void scale_weights(std::size_t rows, std::size_t columns, bool with_bound) {
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < keys_; ++j) {
        const float scale = scales_->v[j / scales_->block];
        double& p = p_[i * columns + j];
        p = rounded_down(p * static_cast<double>(scale));
        if (!with_bound) continue;
        float& w = w_[i * columns + j];
        w = shortened_up(w * scale * (1 + 0x1p-22F));
      }
    }
  }

  void add_bias(std::uint32_t row) {
    biases_.clear();
    if (!shape_.bias) return;
    const std::uint32_t queries = shape_.mask.queries, group = static_cast<std::uint32_t>(shape_.queries) / queries;
    const std::uint32_t query = shape_.mask.history + row % queries;
    for (std::size_t j = 0; j < keys_; ++j) {
      const double bias = shape_.bias(head_ * group + row / queries, query, static_cast<std::uint32_t>(j));
      row_.p[j] += bias;
      biases_.push_back(std::isinf(bias) ? 0 : std::abs(bias));
    }
  }

  // What the mask hides from a row counts as padding does.
  void hide(std::uint32_t row) {
    if (valid_ < keys_) std::fill(row_.p + valid_, row_.p + keys_, -kInfinity);
    if (!shape_.mask.any()) return;
    if (shape_.blocks.any()) {
      const std::uint32_t b = shape_.mask.block, token = row % shape_.mask.queries;
      for (std::size_t j = 0; j < keys_; ++j) {
        if (!shape_.blocks.at(token / b, static_cast<std::uint32_t>(j) / b)) row_.p[j] = -kInfinity;
      }
    }
    const hal::Visible v = hal::visible_rows(shape_.mask, row, 1, static_cast<std::uint32_t>(keys_));
    std::fill(row_.p + v.head, row_.p + v.first, -kInfinity);
    std::fill(row_.p + v.end, row_.p + keys_, -kInfinity);
  }

  // The scores in row_ become probabilities, and its w the weights of |v| in the bound.
  RowKind row(const Head& head, double q_norm, double width, bool with_bound) {
    const double accumulation =
        1.01 * width * kU * q_norm * head.k_norm_most * (scales_ == nullptr ? 1 : greatest_scale());
    if (!shape_.softmax) return chain(head, q_norm, width, with_bound);
    RowKind kind = RowKind::kFinite;
    if (!(greatest_magnitude(row_.p, row_.n) + accumulation < kOverflow)) kind = overflow(head, q_norm, width);
    if (kind != RowKind::kNan) {
      fill(head, q_norm, width, with_bound);
    } else {
      std::fill(row_.p, row_.p + row_.n, 0.0);
      if (with_bound) std::fill(row_.w, row_.w + row_.n, 0.0F);
    }
    return kind;
  }

  // A chain's scores stay what they are, in 24 bits; one that is or may be beyond FP16 leaves the row undecided.
  RowKind chain(const Head& head, double q_norm, double width, bool with_bound) {
    const double roundings = 1.01 * static_cast<double>(keys_) * kU;
    RowKind kind = RowKind::kFinite;
    for (std::size_t j = 0; j < row_.n; ++j) {
      double& s = row_.p[j];
      if (j >= keys_) s = 0;
      const double accumulation = 1.01 * width * kU * q_norm * head.k_norm[j];
      if (!(std::abs(s) + accumulation < kOverflow)) {
        kind = RowKind::kEither;
        s = 0;
      }
      s = static_cast<double>(static_cast<float>(s));
      const double d = accumulation + (kH + kU) * (std::abs(s) + accumulation) + kHalfTiny;
      if (with_bound) row_.w[j] = j < keys_ ? shortened_up(static_cast<float>(d + roundings * (std::abs(s) + d))) : 0;
    }
    return kind;
  }

  // Classifies a row with special or huge scores and sets those that round to -inf to it.
  RowKind overflow(const Head& head, double q_norm, double width) {
    double most = -kInfinity;
    double error = 0.0;
    bool maybe_infinite = false;
    for (std::size_t j = 0; j < keys_; ++j) {
      double& s = row_.p[j];
      if (std::isnan(s)) return RowKind::kNan;
      // Only the accumulation decides on which side of the threshold the sum falls.
      const double accumulation = std::isinf(s) ? 0.0 : 1.01 * width * kU * q_norm * head.k_norm[j];
      if (s - accumulation >= kOverflow) return RowKind::kNan;
      if (s + accumulation >= kOverflow) maybe_infinite = true;
      if (s + accumulation <= -kOverflow) s = -kInfinity;
      if (s > most) {
        most = s;
        error = accumulation;
      }
    }
    if (std::isinf(most)) return RowKind::kNan;  // nothing but -inf
    return maybe_infinite || most - error <= -kOverflow ? RowKind::kEither : RowKind::kFinite;
  }

  void fill(const Head& head, double q_norm, double width, bool with_bound) {
    std::fill(row_.p + keys_, row_.p + row_.n, -kInfinity);  // padding takes no part
    const double most = greatest(row_.p, row_.n);
    if (with_bound) {
      const double unit = 1.01 * width * kU * q_norm * (scales_ == nullptr ? 1 : greatest_scale());
      errors(row_.p, head.k_norm.data(), unit, d_.data(), row_.n);
      for (std::size_t j = 0; j < biases_.size(); ++j) d_[j] += 4.1 * kU * biases_[j];
    }
    const double relative_error = with_bound ? softmax_error() : 0;
    probabilities(row_.p, row_.n, most);
    if (!with_bound) return;

    const double g = grow(row_);
    const Grown grown = scale(row_, g * (1.0 + relative_error));
    const bool whole = keys_per_tile_ == 0;
    double sums = whole ? static_cast<double>(grown.above) : static_cast<double>(std::min(keys_, keys_per_tile_));
    if (relative_rows()) sums = 2 * static_cast<double>(keys_) + 4;
    if (integers()) sums = 4;
    if (scales_ != nullptr) sums += 2 * std::ceil(static_cast<double>(keys_) / static_cast<double>(scales_->block)) + 2;
    const double roundings = whole ? sums : sums + 3 * tiles() + 1;
    const bool relative = arith::is_relative(shape_.type);
    const Loss once = {kH, whole && !relative ? kHalfTiny : kHalfTiny * std::min(grown.greatest, 1.0)};
    Loss again = {0, 0};
    if (shape_.type != hal::ElementType::kFp16) {
      const arith::Rounding lost = arith::rounding_of(shape_.type);
      again = {lost.relative * (1 + kH), lost.least / arith::kept_one(shape_.type) * std::min(grown.greatest, 1.0)};
      if (!relative) again.least = kHalfTiny;
    }
    weigh(row_, once, again, 1.01 * roundings * kU);
  }

  double greatest_scale() const { return static_cast<double>(*std::max_element(scales_->k.begin(), scales_->k.end())); }

  double tiles() const {  // the first keys' last one may be a short one, too
    return std::ceil(static_cast<double>(keys_) / static_cast<double>(keys_per_tile_)) + (shape_.mask.any() ? 1 : 0);
  }

  // eps of step 3 for the scores in row_, whose errors are d_.
  double softmax_error() const {
    if (keys_per_tile_ == 0) return arith::kSoftmaxRelativeError;
    double below = -kInfinity;  // the running maximum is at least this
    double steps = 0;           // 1 + changes
    // Tiles begin where what any row sees begins: the first keys, then the others.
    const hal::Visible all = hal::visible_rows(shape_.mask, 0, static_cast<std::uint32_t>(shape_.queries),
                                               static_cast<std::uint32_t>(keys_));
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
    return 2 * (0x1p-15 + steps * arith::kExpStepError) + static_cast<double>(keys_) * 0x1p-39 + (3 * tiles() + 1) * kU;
  }

  AttentionShape shape_;
  std::size_t keys_per_tile_, keys_ = 0, valid_ = 0;
  std::uint32_t head_ = 0;
  const AttentionShape::RowScales* scales_ = nullptr;
  std::vector<double> biases_;  // of the row, their magnitudes
  bool merged_;
  Block block_;
  ScoreRow row_{};
  std::vector<double> p_, d_, t_;
  std::vector<float> w_;
};

// Rows at a time: enough for an efficient GEMM, few enough that a long sequence needs little memory.
std::size_t rows_per_block(const AttentionShape& shape) {
  return std::clamp<std::size_t>((std::size_t{1} << 16) / std::max<std::size_t>(shape.keys, 1), 4, 64);
}

// Calls visit(b, h, first_row, head, block) for every block of rows.
template <typename Visit>
void for_each_block(const AttentionShape& shape, const Half* q, const Half* k, const Half* v, bool with_bound,
                    const OnePass& softmax, Visit visit) {
  if (shape.keys == 0 || shape.width == 0) return;
  const std::size_t step = rows_per_block(shape);
  BlockEvaluator evaluator(shape, softmax);
  for (std::size_t bh = 0; bh < shape.batch * shape.heads; ++bh) {
    const Head head(shape, k + bh * shape.keys * shape.width, v + bh * shape.keys * shape.values());
    for (std::size_t row = 0; row < shape.queries; row += step) {
      const std::size_t rows = std::min(step, shape.queries - row);
      std::vector<double> wide_q = widened(q + (bh * shape.queries + row) * shape.width, rows * shape.width);
      const float scale = !shape.scales.empty() ? 1 : shape.factors.empty() ? shape.scale : shape.factors[bh].score;
      for (double& x : wide_q) x *= static_cast<double>(scale);
      if (!shape.scales.empty()) {
        const AttentionShape::RowScales& blocks = shape.scales[bh];
        for (std::size_t i = 0; i < wide_q.size(); ++i) {
          wide_q[i] *= static_cast<double>(blocks.q[(row + i / shape.width) / blocks.block]);
        }
      }
      evaluator.begin(bh);
      visit(bh, row, head, evaluator.evaluate(head, wide_q.data(), row, rows, with_bound));
    }
  }
}

struct Verdict {
  double error = 0.0;  // infinite for a failed special value
  double tolerance = 0.0;
  bool compared = false;  // as numbers
};

Verdict judge(double expected, double bound, RowKind kind, bool column_finite, double actual, double h) {
  Verdict verdict;
  if (kind == RowKind::kEither && std::isnan(actual)) return verdict;
  if (kind == RowKind::kNan || !column_finite) {
    const bool right = kind == RowKind::kNan ? std::isnan(actual) : !std::isfinite(actual);
    verdict.error = right ? 0.0 : kInfinity;
    return verdict;
  }
  verdict.tolerance = bound + h * (std::abs(expected) + bound) + kHalfTiny;
  if (std::isinf(actual) && actual * expected > 0 && std::abs(expected) + verdict.tolerance >= kOverflow) {
    return verdict;
  }
  verdict.error = std::isnan(actual) ? kInfinity : std::abs(actual - expected);
  verdict.compared = true;
  return verdict;
}

}  // namespace

GoldenResult check_attention(const AttentionShape& shape, const Half* q, const Half* k, const Half* v,
                             const Half* output, const OnePass& softmax) {
  GoldenResult result;
  double worst = -1.0;
  const double h = arith::rounding_of(shape.out).relative;
  const auto visit = [&](std::size_t bh, std::size_t first, const Head& head, const Block& block) {
    const double factor = shape.factors.empty() ? 1 : static_cast<double>(shape.factors[bh].value);
    const std::vector<double> wide =
        widened(output + (bh * shape.queries + first) * shape.values(), block.kind.size() * shape.values());
    for (std::size_t i = 0; i < block.kind.size(); ++i) {
      const Half* out = output + (bh * shape.queries + first + i) * shape.values();
      const double* actual = wide.data() + i * shape.values();
      for (std::size_t d = 0; d < shape.values(); ++d) {
        const double expected = block.output[i * block.stride + d] * factor;
        const double bound = static_cast<double>(block.bound[i * block.stride + d]) * factor;
        const Verdict verdict = judge(expected, bound, block.kind[i], head.v_finite[d], actual[d], h);
        const bool failed = !(verdict.error <= verdict.tolerance) || std::isinf(verdict.error);
        if (failed) ++result.failures;
        if (verdict.compared) {
          result.max_abs_error = std::max(result.max_abs_error, verdict.error);
          const int ulps = arith::ulp_distance(arith::half_from_double(expected), out[d]);
          result.max_ulp_error = std::max(result.max_ulp_error, ulps);
        }
        const double score = failed                 ? std::max(1.0, verdict.error / verdict.tolerance)
                             : verdict.error == 0.0 ? 0.0
                                                    : verdict.error / verdict.tolerance;
        if (score <= worst) continue;
        worst = score;
        result.batch = bh / shape.heads;
        result.head = bh % shape.heads;
        result.row = first + i;
        result.column = d;
        result.expected = block.kind[i] == RowKind::kNan ? std::nan("") : expected;
        result.actual = actual[d];
        result.tolerance = verdict.tolerance;
      }
    }
  };
  for_each_block(shape, q, k, v, true, softmax, visit);
  result.passed = result.failures == 0;
  return result;
}

std::vector<double> reference_attention(const AttentionShape& shape, const Half* q, const Half* k, const Half* v) {
  std::vector<double> reference(shape.output_elements());
  const auto visit = [&](std::size_t bh, std::size_t first, const Head& head, const Block& block) {
    const double factor = shape.factors.empty() ? 1 : static_cast<double>(shape.factors[bh].value);
    for (std::size_t i = 0; i < block.kind.size(); ++i) {
      double* out = reference.data() + (bh * shape.queries + first + i) * shape.values();
      for (std::size_t d = 0; d < shape.values(); ++d) {
        const bool number = block.kind[i] != RowKind::kNan && head.v_finite[d];
        out[d] = number ? block.output[i * block.stride + d] * factor : std::nan("");
      }
    }
  };
  for_each_block(shape, q, k, v, false, {}, visit);
  return reference;
}

std::string GoldenResult::to_string() const {
  std::ostringstream text;
  text << (passed ? "passed" : "FAILED") << ", " << failures << " elements beyond tolerance, max error "
       << max_abs_error << " (" << max_ulp_error << " ulp), worst at [" << batch << ", " << head << ", " << row << ", "
       << column << "]: " << actual << ", expected " << expected << " +- " << tolerance;
  return text.str();
}

}  // namespace attnvp::job
