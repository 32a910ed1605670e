#include "platform/job/steps.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/arith/softmax.h"
#include "platform/job/golden_kernels.h"
#include "platform/job/random_tensors.h"

namespace attnvp::job {

namespace {

constexpr std::size_t kRowsAtATime = 64;

std::vector<double> wide(const arith::Half* data, std::size_t n) {
  std::vector<double> all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = arith::float_from_half(data[i]);
  return all;
}

// The elements that are compared, one after the other.
class Comparison {
 public:
  void compare(std::size_t row, std::size_t column, double expected, double tolerance, arith::Half actual) {
    const double value = arith::float_from_half(actual);
    if (std::isinf(value) && value * expected > 0 && std::abs(expected) + tolerance >= kOverflow) return;
    const double error = std::isnan(value) ? std::numeric_limits<double>::infinity() : std::abs(value - expected);
    result_.max_abs_error = std::max(result_.max_abs_error, error);
    result_.max_ulp_error =
        std::max(result_.max_ulp_error, arith::ulp_distance(actual, arith::half_from_double(expected)));
    if (error > tolerance) {
      ++result_.failures;
      result_.passed = false;
    }
    if (error / tolerance <= worst_) return;
    worst_ = error / tolerance;
    result_.row = row;
    result_.column = column;
    result_.expected = expected;
    result_.actual = value;
    result_.tolerance = tolerance;
  }
  const GoldenResult& result() const { return result_; }

 private:
  GoldenResult result_;
  double worst_ = -1;
};

GoldenResult check_product(const config::Network& n, const Tensors& t, const std::vector<arith::Half>& c) {
  const std::size_t rows = n.seq_q, columns = n.seq_kv, depth = n.emb;
  Panels<double> k(depth, columns);
  std::vector<double> k_norm(columns);
  for (std::size_t j = 0; j < columns; ++j) {
    double square = 0;
    for (std::size_t d = 0; d < depth; ++d) {
      const double x = arith::float_from_half(t.k[j * depth + d]);
      k.at(d, j) = x;
      square += x * x;
    }
    k_norm[j] = std::sqrt(square);
  }
  Comparison all;
  std::vector<double> sums(kRowsAtATime * k.columns());
  for (std::size_t first = 0; first < rows; first += kRowsAtATime) {
    const std::size_t here = std::min(kRowsAtATime, rows - first);
    const std::vector<double> q = wide(t.q.data() + first * depth, here * depth);
    multiply_exact(q.data(), here, depth, k, sums.data());
    for (std::size_t i = 0; i < here; ++i) {
      double square = 0;
      for (std::size_t d = 0; d < depth; ++d) square += q[i * depth + d] * q[i * depth + d];
      const double unit = 1.01 * static_cast<double>(depth) * kU * std::sqrt(square);
      for (std::size_t j = 0; j < columns; ++j) {
        const double expected = sums[i * k.columns() + j], added = unit * k_norm[j];
        const double tolerance = added + kH * (std::abs(expected) + added) + kHalfTiny;
        all.compare(first + i, j, expected, tolerance, c[(first + i) * columns + j]);
      }
    }
  }
  return all.result();
}

GoldenResult check_softmax(const config::Network& n, const Tensors& t, const std::vector<arith::Half>& p) {
  const std::size_t columns = n.seq_kv;
  Comparison all;
  for (std::size_t i = 0; i < n.seq_q; ++i) {
    std::vector<double> row = wide(t.q.data() + i * columns, columns);
    const double most = *std::max_element(row.begin(), row.end());
    double sum = 0;
    for (double& x : row) sum += x = std::exp(x - most);
    for (std::size_t j = 0; j < columns; ++j) {
      const double expected = row[j] / sum, unit = arith::kSoftmaxRelativeError * expected;
      all.compare(i, j, expected, unit + kH * (expected + unit) + kHalfTiny, p[i * columns + j]);
    }
  }
  return all.result();
}

}  // namespace

Tensors random_operands(const config::Network& n, std::uint64_t seed) {
  AttentionShape shape{1, 1, n.seq_q, n.seq_kv, n.emb};
  if (n.step == config::Step::kSoftmax) {
    shape.keys = 0;
    shape.width = n.seq_kv;
  }
  AttentionTensors t = random_attention(
      shape, seed,
      n.step == config::Step::kSoftmax ? kScoreSpread * std::sqrt(static_cast<double>(n.seq_kv)) : kScoreSpread);
  return {std::move(t.q), std::move(t.k), {}};
}

std::uint64_t operand_address(const config::Network& n, const hal::Layer& layer) {
  return n.step == config::Step::kSoftmax ? layer.c : layer.q;
}

std::uint64_t result_address(const config::Network& n, const hal::Layer& layer) {
  return n.step == config::Step::kSoftmax ? layer.p : layer.c;
}

GoldenResult check_step(const config::Network& n, const Tensors& t, const std::vector<arith::Half>& result) {
  return n.step == config::Step::kSoftmax ? check_softmax(n, t, result) : check_product(n, t, result);
}

}  // namespace attnvp::job
