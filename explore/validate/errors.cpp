#include "explore/validate/errors.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace attnvp::validate {

namespace {

std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> rank(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first + 1;
    while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
    for (std::size_t i = first; i < end; ++i) rank[order[i]] = static_cast<double>(first + end - 1) / 2;
    first = end;
  }
  return rank;
}

}  // namespace

double error_of(const Point& point) { return point.predicted / point.measured - 1; }

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const double n = static_cast<double>(a.size());
  const double mean_a = std::accumulate(a.begin(), a.end(), 0.0) / n,
               mean_b = std::accumulate(b.begin(), b.end(), 0.0) / n;
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = a[i] - mean_a, y = b[i] - mean_b;
    ab += x * y, aa += x * x, bb += y * y;
  }
  if (aa == 0 && bb == 0) return 1;
  return aa == 0 || bb == 0 ? 0 : ab / std::sqrt(aa * bb);
}

double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  return correlation(ranks(a), ranks(b));
}

std::optional<double> correlation_within(const std::vector<std::string>& groups, const std::vector<Point>& points) {
  constexpr std::size_t kFewest = 3;  // two points are always on a line
  std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> by_group;
  for (std::size_t i = 0; i < points.size(); ++i) {
    auto& [measured, predicted] = by_group[groups[i]];
    measured.push_back(points[i].measured), predicted.push_back(points[i].predicted);
  }
  double sum = 0;
  std::size_t count = 0;
  for (const auto& [group, values] : by_group) {
    if (values.first.size() < kFewest) continue;
    sum += correlation(values.first, values.second);
    ++count;
  }
  if (count == 0) return std::nullopt;
  return sum / static_cast<double>(count);
}

Errors errors_of(const std::vector<Point>& points) {
  Errors errors;
  std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> by_unit;
  for (const Point& point : points) {
    const double error = error_of(point);
    errors.mape += std::abs(error), errors.bias += error, errors.worst = std::max(errors.worst, std::abs(error));
    by_unit[point.unit].first.push_back(point.measured), by_unit[point.unit].second.push_back(point.predicted);
  }
  for (const auto& [unit, values] : by_unit) {
    errors.spearman += rank_correlation(values.first, values.second) * static_cast<double>(values.first.size());
  }
  const double n = static_cast<double>(points.empty() ? 1 : points.size());
  errors.mape /= n, errors.bias /= n, errors.spearman /= n;
  return errors;
}

}  // namespace attnvp::validate
