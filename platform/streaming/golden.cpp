#include "platform/streaming/golden.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace attnvp::stream {

namespace {

constexpr double kU = 0x1p-24;

double norm(const arith::Half* row, std::size_t width) {
  double sum = 0;
  for (std::size_t i = 0; i < width; ++i) sum += std::pow(arith::double_from_half(row[i]), 2);
  return std::sqrt(sum);
}

}  // namespace

GoldenResult check_stream(const job::AttentionShape& shape, const job::AttentionTensors& tensors,
                          const std::vector<float>& output) {
  const std::size_t n = shape.queries, d = shape.width;
  const std::vector<double> reference =
      job::reference_attention(shape, tensors.q.data(), tensors.k.data(), tensors.v.data());
  double longest_key = 0;
  std::vector<double> largest(d), lowest(d, INFINITY), highest(d, -INFINITY);
  for (std::size_t j = 0; j < n; ++j) {
    longest_key = std::max(longest_key, norm(&tensors.k[j * d], d));
    for (std::size_t c = 0; c < d; ++c) {
      const double v = arith::double_from_half(tensors.v[j * d + c]);
      largest[c] = std::max(largest[c], std::abs(v));
      lowest[c] = std::min(lowest[c], v);
      highest[c] = std::max(highest[c], v);
    }
  }
  GoldenResult result;
  result.checked = true;
  double worst = -1;
  const double roundings = 2 * (4 * static_cast<double>(n) + 8) * kU;
  for (std::size_t i = 0; i < n; ++i) {
    const double a = norm(&tensors.q[i * d], d) * longest_key;
    const double share = std::expm1(2 * (static_cast<double>(d) + 4) * kU * a + roundings);
    for (std::size_t c = 0; c < d; ++c) {
      const double expected = reference[i * d + c], actual = output[i * d + c];
      const double spread = highest[c] - lowest[c] + std::expm1(roundings) * largest[c];
      const double tolerance = std::min(share * largest[c], spread);
      const double error = std::abs(actual - expected);
      const bool good = error <= tolerance;  // false for NaN
      if (!good) ++result.failures;
      if (std::isfinite(error)) result.max_abs_error = std::max(result.max_abs_error, error);
      const double score = std::isfinite(error) ? error / std::max(tolerance, kU * kU) : INFINITY;
      if (score <= worst) continue;
      worst = score;
      result.row = static_cast<std::uint32_t>(i);
      result.column = static_cast<std::uint32_t>(c);
      result.expected = expected;
      result.actual = actual;
      result.tolerance = tolerance;
    }
  }
  result.passed = result.failures == 0;
  return result;
}

std::string GoldenResult::to_string() const {
  return fmt::format(
      "{}, {} elements beyond tolerance, max error {:.3g}, worst at [{}, {}]: {:.9g}, expected {:.9g} +- {:.3g}",
      passed ? "passed" : "FAILED", failures, max_abs_error, row, column, actual, expected, tolerance);
}

}  // namespace attnvp::stream
