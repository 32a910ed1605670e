#include "platform/job/golden.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "models/arith/online.h"
#include "models/arith/softmax.h"

namespace attnvp::job {
namespace {

using arith::Half;
using MatrixD = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using MatrixF = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Index = Eigen::Index;

constexpr double kU = 0x1p-24;         // half a unit in the last place of 1.0 in FP32
constexpr double kH = 0x1p-11;         // the same in FP16
constexpr double kHalfTiny = 0x1p-25;  // rounding error of an FP16 subnormal
constexpr double kOverflow = 65520.0;  // rounds to infinity in FP16
constexpr double kInfinity = std::numeric_limits<double>::infinity();

MatrixD to_matrix(const Half* data, std::size_t rows, std::size_t columns) {
  MatrixD m(static_cast<Index>(rows), static_cast<Index>(columns));
  for (std::size_t i = 0; i < rows * columns; ++i) m.data()[i] = arith::double_from_half(data[i]);
  return m;
}

enum class RowKind { kFinite, kNan, kEither };

// K and V of one head and what the rows of a block need of them.
struct Head {
  MatrixD k, v;
  MatrixF v_abs;
  Eigen::ArrayXd k_norm;
  std::vector<bool> v_finite;  // per column

  Head(const AttentionShape& shape, const Half* k_bits, const Half* v_bits)
      : k(to_matrix(k_bits, shape.keys, shape.width)), v(to_matrix(v_bits, shape.keys, shape.width)) {
    k_norm = k.rowwise().norm().array();
    v_finite.resize(shape.width);
    for (Index d = 0; d < v.cols(); ++d) {
      v_finite[static_cast<std::size_t>(d)] = v.col(d).allFinite();
      if (!v.col(d).allFinite()) v.col(d).setZero();
    }
    v_abs = v.cwiseAbs().cast<float>();
  }
};

// The reference of some rows of one head and, for the check, the bound T of step 4.
struct Block {
  MatrixD output;
  MatrixF bound;
  std::vector<RowKind> kind;
};

class BlockEvaluator {
 public:
  explicit BlockEvaluator(const OnePass& softmax)
      : keys_per_tile_(static_cast<Index>(softmax.keys_per_tile)), merged_(softmax.merged) {}

  Block evaluate(const Head& head, const MatrixD& q, bool with_bound) {
    Block block;
    p_.noalias() = q * head.k.transpose();
    if (with_bound) w_.resize(p_.rows(), p_.cols());
    for (Index i = 0; i < p_.rows(); ++i) {
      block.kind.push_back(row(head, q.row(i).norm(), static_cast<double>(q.cols()), i, with_bound));
    }
    block.output.noalias() = p_ * head.v;
    if (with_bound) {
      block.bound.noalias() = w_ * head.v_abs;
      // FP32 evaluation: rounding of w and of |v| P sums, at most (keys + 16) roundings.
      block.bound *= 1.001F + static_cast<float>(p_.cols()) * 0x1p-23F;
    }
    return block;
  }

 private:
  // Scores in row i of p_ become probabilities, and row i of w_ the weights of |v| in the bound.
  RowKind row(const Head& head, double q_norm, double width, Index i, bool with_bound) {
    auto p = p_.row(i).array();
    const double accumulation = 1.01 * width * kU * q_norm * head.k_norm.maxCoeff();
    RowKind kind = RowKind::kFinite;
    if (!p.allFinite() || !(p.abs().maxCoeff() + accumulation < kOverflow)) {
      kind = overflow(head, q_norm, width, i);
    }
    if (kind != RowKind::kNan) {
      fill(head, q_norm, width, i, with_bound);
    } else {
      p.setZero();
      if (with_bound) w_.row(i).setZero();
    }
    return kind;
  }

  // Classifies a row with special or huge scores and sets those that round to -inf to it.
  RowKind overflow(const Head& head, double q_norm, double width, Index i) {
    double greatest = -kInfinity;
    double error = 0.0;
    bool maybe_infinite = false;
    for (Index j = 0; j < p_.cols(); ++j) {
      double& s = p_(i, j);
      if (std::isnan(s)) return RowKind::kNan;
      // Only the accumulation decides on which side of the threshold the sum falls.
      const double accumulation = std::isinf(s) ? 0.0 : 1.01 * width * kU * q_norm * head.k_norm(j);
      if (s - accumulation >= kOverflow) return RowKind::kNan;
      if (s + accumulation >= kOverflow) maybe_infinite = true;
      if (s + accumulation <= -kOverflow) s = -kInfinity;
      if (s > greatest) {
        greatest = s;
        error = accumulation;
      }
    }
    if (std::isinf(greatest)) return RowKind::kNan;  // nothing but -inf
    return maybe_infinite || greatest - error <= -kOverflow ? RowKind::kEither : RowKind::kFinite;
  }

  void fill(const Head& head, double q_norm, double width, Index i, bool with_bound) {
    auto p = p_.row(i).array();
    const double greatest = p.maxCoeff();
    if (with_bound) {  // d, with 0 for the scores that are exactly -inf
      const double unit = 1.01 * width * kU * q_norm;
      const auto accumulation = head.k_norm.transpose() * unit;
      d_ = accumulation + kH * (p.abs() + accumulation) + kHalfTiny;
      if (std::isinf(p.minCoeff())) d_ = (p == -kInfinity).select(0.0, d_);
    }
    const double relative_error = with_bound ? softmax_error(i) : 0;
    if (std::isinf(p.minCoeff())) p = p.max(-1e300);
    p = (p - greatest).max(-700.0).exp();
    p *= 1.0 / p.sum();
    if (!with_bound) return;

    auto w = w_.row(i).array();
    growth_ = d_.min(100.0).exp();  // a bound as wide as that accepts anything
    const double g = (p * growth_).sum();
    t_ = p * growth_ * (g * (1.0 + relative_error));
    const bool whole = keys_per_tile_ == 0;
    const double roundings = whole ? static_cast<double>((t_ > kHalfTiny).count())
                                   : static_cast<double>(std::min(p.size(), keys_per_tile_)) + 3 * tiles() + 1;
    const double sum_error = 1.01 * roundings * kU;
    const double tiny = whole ? kHalfTiny : kHalfTiny * std::min(t_.maxCoeff(), 1.0);
    t_ = t_ - p + t_.min((t_ * kH).max(tiny));
    w = (t_ + sum_error * (p + t_)).min(1e30).template cast<float>();
  }

  double tiles() const { return std::ceil(static_cast<double>(p_.cols()) / static_cast<double>(keys_per_tile_)); }

  // eps of step 3 for the scores in row i of p_, whose errors are d_.
  double softmax_error(Index i) const {
    if (keys_per_tile_ == 0) return arith::kSoftmaxRelativeError;
    double below = -kInfinity;  // the running maximum is at least this
    double steps = 0;           // 1 + changes
    for (Index j = 0; j < p_.cols(); j += keys_per_tile_) {
      const Index n = std::min(keys_per_tile_, p_.cols() - j);
      const auto s = p_.row(i).segment(j, n).array();
      const auto d = d_.segment(j, n);
      if (j == 0 || merged_ || (s + d).maxCoeff() > below) ++steps;
      below = std::max(below, (s - d).maxCoeff());
    }
    return 2 * (0x1p-15 + steps * arith::kExpStepError) + static_cast<double>(p_.cols()) * 0x1p-39 +
           (3 * tiles() + 1) * kU;
  }

  Index keys_per_tile_;
  bool merged_;
  MatrixD p_;
  MatrixF w_;
  Eigen::Array<double, 1, Eigen::Dynamic> d_, growth_, t_;
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
  BlockEvaluator evaluator(softmax);
  for (std::size_t bh = 0; bh < shape.batch * shape.heads; ++bh) {
    const Head head(shape, k + bh * shape.keys * shape.width, v + bh * shape.keys * shape.width);
    for (std::size_t row = 0; row < shape.queries; row += step) {
      const std::size_t rows = std::min(step, shape.queries - row);
      const MatrixD block_q = to_matrix(q + (bh * shape.queries + row) * shape.width, rows, shape.width);
      visit(bh, row, head, evaluator.evaluate(head, block_q, with_bound));
    }
  }
}

struct Verdict {
  double error = 0.0;  // infinite for a failed special value
  double tolerance = 0.0;
  bool compared = false;  // as numbers
};

Verdict judge(double expected, double bound, RowKind kind, bool column_finite, Half actual_bits) {
  const double actual = arith::double_from_half(actual_bits);
  Verdict verdict;
  if (kind == RowKind::kEither && std::isnan(actual)) return verdict;
  if (kind == RowKind::kNan || !column_finite) {
    const bool right = kind == RowKind::kNan ? std::isnan(actual) : !std::isfinite(actual);
    verdict.error = right ? 0.0 : kInfinity;
    return verdict;
  }
  verdict.tolerance = bound + kH * (std::abs(expected) + bound) + kHalfTiny;
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
  const auto visit = [&](std::size_t bh, std::size_t first, const Head& head, const Block& block) {
    for (std::size_t i = 0; i < block.kind.size(); ++i) {
      const Half* out = output + (bh * shape.queries + first + i) * shape.width;
      for (std::size_t d = 0; d < shape.width; ++d) {
        const auto r = static_cast<Index>(i), c = static_cast<Index>(d);
        const double expected = block.output(r, c);
        const auto bound = static_cast<double>(block.bound(r, c));
        const Verdict verdict = judge(expected, bound, block.kind[i], head.v_finite[d], out[d]);
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
        result.actual = arith::double_from_half(out[d]);
        result.tolerance = verdict.tolerance;
      }
    }
  };
  for_each_block(shape, q, k, v, true, softmax, visit);
  result.passed = result.failures == 0;
  return result;
}

std::vector<double> reference_attention(const AttentionShape& shape, const Half* q, const Half* k, const Half* v) {
  std::vector<double> reference(shape.query_elements());
  const auto visit = [&](std::size_t bh, std::size_t first, const Head& head, const Block& block) {
    for (std::size_t i = 0; i < block.kind.size(); ++i) {
      double* out = reference.data() + (bh * shape.queries + first + i) * shape.width;
      for (std::size_t d = 0; d < shape.width; ++d) {
        const bool number = block.kind[i] != RowKind::kNan && head.v_finite[d];
        out[d] = number ? block.output(static_cast<Index>(i), static_cast<Index>(d)) : std::nan("");
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
