// How far predictions are from measurements. An error is predicted / measured - 1.
#pragma once

#include <vector>

#include "explore/validate/data_set.h"

namespace attnvp::validate {

struct Errors {
  double mape = 0;      // mean of the errors' magnitudes
  double bias = 0;      // mean of the errors: above 0 where predictions are too high
  double spearman = 0;  // rank correlation; of several units, each by itself, their mean by number of points
  double worst = 0;     // largest magnitude
};

double error_of(const Point& point);
Errors errors_of(const std::vector<Point>& points);

// Pearson's correlation of the ranks, ties at their mean rank; 1 where there is nothing to rank.
double rank_correlation(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace attnvp::validate
