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

double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const std::vector<double> x = ranks(a), y = ranks(b);
  const double mean = (static_cast<double>(x.size()) - 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean), xx += (x[i] - mean) * (x[i] - mean), yy += (y[i] - mean) * (y[i] - mean);
  }
  if (xx == 0 && yy == 0) return 1;
  return xx == 0 || yy == 0 ? 0 : xy / std::sqrt(xx * yy);
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
