// Parts of the outputs of a set: errors, rows and groups of rows as text, and plots.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "explore/validate/validate.h"
#include "platform/report/table.h"

namespace attnvp::validate {

// Points by operation kind, by measured time and by each label of a few values: for rows given by --net texts.
struct PointGroup {
  std::string by, value;
  std::vector<MeasuredPoint> points;
};
std::vector<PointGroup> groups_of(const SetResult& result);

std::string signed_percent(double share);
std::string errors_text(const SetResult& result);
// Errors of further results of the rows; empty: there are none.
std::string further_text(const SetResult& result, std::size_t line_width);
std::string groups_text(const SetResult& result, std::size_t line_width);
std::vector<std::size_t> worst_first(const SetResult& result);  // indices of points
std::vector<std::size_t> worst_rows(const SetResult& result);   // the first of these
report::Table table_of(const SetResult& result, const std::vector<std::size_t>& points);

// Predicted over measured values with equal logarithmic axes; a series has a colour of its own.
struct DotSeries {
  std::string name;
  std::vector<std::pair<double, double>> points;  // measured, predicted
};
std::string dot_plot(const std::vector<DotSeries>& series, const std::string& unit, double diameter,
                     const std::string& attributes = "");

}  // namespace attnvp::validate
