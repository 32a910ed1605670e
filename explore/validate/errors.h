// How far predictions are from measurements. An error is predicted / measured - 1.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "explore/validate/data_set.h"

namespace attnvp::validate {

struct Errors {
  double mape = 0;      // mean of the errors' magnitudes
  double bias = 0;      // mean of the errors: above 0 where predictions are too high
  double spearman = 0;  // rank correlation; of several units, each by itself, their mean by number of points
  double worst = 0;     // largest magnitude
  std::optional<double> within_groups;  // correlation_within, of kinds with groups
};

double error_of(const Point& point);
Errors errors_of(const std::vector<Point>& points);

// Pearson's correlation; 1 where there is nothing to correlate.
double correlation(const std::vector<double>& a, const std::vector<double>& b);
// Of predictions with measurements among points of one group, mean over the groups of three points or more: whether
// what is predicted follows what is measured where rows differ in little. None where there is no such group.
std::optional<double> correlation_within(const std::vector<std::string>& groups, const std::vector<Point>& points);

// Correlation of the ranks, ties at their mean rank; 1 where there is nothing to rank.
double rank_correlation(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace attnvp::validate
