#include "platform/run/golden/golden.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "models/arith/number.h"
#include "platform/base/parallel.h"
#include "platform/run/golden/golden_kernels.h"

namespace attnvp::job {
namespace {

using arith::Half;

// Enough rows for an efficient GEMM; few enough to limit memory for long sequences.
std::size_t rows_per_block(const AttentionShape& shape) {
  return std::clamp<std::size_t>((std::size_t{1} << 16) / std::max<std::size_t>(shape.keys, 1), 4, 64);
}

// Consecutive rows of one head of K and V.
struct Part {
  std::size_t head, first_row, rows;  // the head is counted over all batches
};

// One part for each head, or several where there are more processors than heads. Parts have whole blocks of rows.
std::vector<Part> parts_of(const AttentionShape& shape) {
  if (shape.keys == 0 || shape.width == 0) return {};
  const std::size_t heads = shape.batch * shape.heads, block = rows_per_block(shape);
  const std::size_t blocks = (shape.queries + block - 1) / block;
  const std::size_t each = std::clamp<std::size_t>(usable_processors() / std::max<std::size_t>(heads, 1), 1, 64);
  const std::size_t rows = std::max<std::size_t>((blocks + each - 1) / each, 1) * block;
  std::vector<Part> parts;
  for (std::size_t head = 0; head < heads; ++head) {
    for (std::size_t row = 0; row < shape.queries; row += rows) {
      parts.push_back({head, row, std::min(rows, shape.queries - row)});
    }
  }
  return parts;
}

// Calls visit(first_row, block) for every block of rows of a part.
template <typename Number, typename Visit>
void for_each_block(const AttentionShape& shape, const Part& part, const Number* q, const Number* k, const Number* v,
                    bool with_bound, const OnePass& softmax, Visit visit) {
  const std::size_t step = rows_per_block(shape), bh = part.head;
  BlockEvaluator evaluator(shape, softmax);
  evaluator.begin(bh);
  const std::size_t key_elements = shape.keys * shape.width, value_elements = shape.keys * shape.values();
  const KeyValueHead head(shape, widened(k + bh * key_elements, key_elements),
                          widened(v + bh * value_elements, value_elements));
  for (std::size_t row = part.first_row; row < part.first_row + part.rows; row += step) {
    const std::size_t rows = std::min(step, part.first_row + part.rows - row);
    std::vector<double> wide_q = widened(q + (bh * shape.queries + row) * shape.width, rows * shape.width);
    const float scale = !shape.scales.empty() ? 1 : shape.factors.empty() ? shape.scale : shape.factors[bh].score;
    for (double& x : wide_q) x *= static_cast<double>(scale);
    if (!shape.scales.empty()) {
      const AttentionShape::RowScales& blocks = shape.scales[bh];
      for (std::size_t i = 0; i < wide_q.size(); ++i) {
        wide_q[i] *= static_cast<double>(blocks.q[(row + i / shape.width) / blocks.block]);
      }
    }
    visit(row, evaluator.evaluate(head, wide_q.data(), row, rows, with_bound));
  }
}

}  // namespace

void Comparison::begin_row(std::size_t batch, std::size_t head, std::size_t row, bool scores_overflow) {
  batch_ = batch;
  head_ = head;
  row_ = row;
  scores_overflow_ = scores_overflow;
  counted_ = false;
  ++result_.rows;
}

void Comparison::compare(std::size_t column, double expected, double tolerance, Half bits) {
  const double actual = static_cast<double>(arith::float_from_half(bits)), error = std::abs(actual - expected);
  bool right = error <= tolerance;
  double severity = error / tolerance;
  if (std::isfinite(error)) {
    result_.max_abs_error = std::max(result_.max_abs_error, error);
    result_.max_ulp_error =
        std::max(result_.max_ulp_error, arith::ulp_distance(arith::half_from_double(expected), bits));
  } else {
    right = std::isnan(expected) ? std::isnan(actual) : std::isinf(expected) && !std::isfinite(actual);
    severity = right ? 0 : kInfinity;
    const bool result_overflows = std::isfinite(expected) && std::abs(expected) + tolerance >= kOverflow;
    if (std::isfinite(expected) && !counted_ && (scores_overflow_ || result_overflows)) {
      ++(scores_overflow_ ? result_.rows_of_score_overflow : result_.rows_of_result_overflow);
      counted_ = true;
    }
  }
  if (!right) {
    ++result_.failures;
    result_.passed = false;
    severity = std::max(severity, 1.0);
  }
  if (!(severity > result_.severity)) return;
  result_.severity = severity;
  result_.batch = batch_;
  result_.head = head_;
  result_.row = row_;
  result_.column = column;
  result_.expected = expected;
  result_.actual = actual;
  result_.tolerance = tolerance;
}

void GoldenResult::add(const GoldenResult& part, std::size_t first_batch) {
  GoldenResult all = part.severity > severity ? part : *this;
  if (part.severity > severity) all.batch += first_batch;
  all.passed = passed && part.passed;
  all.rows = rows + part.rows;
  all.failures = failures + part.failures;
  all.rows_of_score_overflow = rows_of_score_overflow + part.rows_of_score_overflow;
  all.rows_of_result_overflow = rows_of_result_overflow + part.rows_of_result_overflow;
  all.max_abs_error = std::max(max_abs_error, part.max_abs_error);
  all.max_ulp_error = std::max(max_ulp_error, part.max_ulp_error);
  *this = all;
}

GoldenResult check_attention(const AttentionShape& shape, const Half* q, const Half* k, const Half* v,
                             const Half* output, const OnePass& softmax) {
  const double h = arith::rounding_of(shape.out).relative;
  const std::vector<Part> parts = parts_of(shape);
  std::vector<GoldenResult> results(parts.size());
  run_in_parallel(parts.size(), [&](std::size_t p) {
    const std::size_t bh = parts[p].head;
    const double factor = shape.factors.empty() ? 1 : static_cast<double>(shape.factors[bh].value);
    Comparison comparison;
    const auto visit = [&](std::size_t first, const ReferenceRows& block) {
      for (std::size_t i = 0; i < block.kind.size(); ++i) {
        const Half* out = output + (bh * shape.queries + first + i) * shape.values();
        comparison.begin_row(bh / shape.heads, bh % shape.heads, first + i, block.kind[i] == RowKind::kOverflows);
        for (std::size_t d = 0; d < shape.values(); ++d) {
          if (!block.number(i, d)) {
            const bool nan = shape.softmax && block.kind[i] == RowKind::kNan;
            comparison.compare(d, nan ? std::nan("") : kInfinity, 0, out[d]);
            continue;
          }
          const double expected = block.output[i * block.stride + d] * factor;
          const double bound = static_cast<double>(block.bound[i * block.stride + d]) * factor;
          comparison.compare(d, expected, bound + h * (std::abs(expected) + bound) + kHalfTiny, out[d]);
        }
      }
    };
    for_each_block(shape, parts[p], q, k, v, true, softmax, visit);
    results[p] = comparison.result();
  });
  GoldenResult all;
  for (const GoldenResult& result : results) all.add(result, 0);
  return all;
}

namespace {

template <typename Number>
std::vector<double> reference_of(const AttentionShape& shape, const Number* q, const Number* k, const Number* v) {
  std::vector<double> reference(shape.output_elements());
  const std::vector<Part> parts = parts_of(shape);
  run_in_parallel(parts.size(), [&](std::size_t p) {
    const std::size_t bh = parts[p].head;
    const double factor = shape.factors.empty() ? 1 : static_cast<double>(shape.factors[bh].value);
    const auto visit = [&](std::size_t first, const ReferenceRows& block) {
      for (std::size_t i = 0; i < block.kind.size(); ++i) {
        double* out = reference.data() + (bh * shape.queries + first + i) * shape.values();
        for (std::size_t d = 0; d < shape.values(); ++d) {
          out[d] = block.number(i, d) ? block.output[i * block.stride + d] * factor : std::nan("");
        }
      }
    };
    for_each_block(shape, parts[p], q, k, v, false, {}, visit);
  });
  return reference;
}

}  // namespace

std::vector<double> reference_attention(const AttentionShape& shape, const Half* q, const Half* k, const Half* v) {
  return reference_of(shape, q, k, v);
}

std::vector<double> reference_attention(const AttentionShape& shape, const double* q, const double* k,
                                        const double* v) {
  return reference_of(shape, q, k, v);
}

std::string GoldenResult::to_string() const {
  std::ostringstream text;
  text << failures << " elements beyond tolerance, ";
  const std::string overflow = overflow_text();
  if (!overflow.empty()) text << overflow << ", ";
  text << "max error " << max_abs_error << " (" << max_ulp_error << " ulp), worst at [" << batch << ", " << head << ", "
       << row << ", " << column << "]: " << actual << ", expected " << expected << " +- " << tolerance;
  return text.str();
}

std::string GoldenResult::overflow_text() const {
  std::ostringstream text;
  const auto say = [&](const char* what, std::size_t count) {
    if (count == 0) return;
    text << (text.tellp() > 0 ? ", " : "") << what << " overflow FP16 in " << count << " of " << rows << " rows";
  };
  say("scores", rows_of_score_overflow);
  say("results", rows_of_result_overflow);
  return text.str();
}

}  // namespace attnvp::job
