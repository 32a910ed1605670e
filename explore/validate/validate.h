// Validation against published measurements: predicts the rows of a data file (data_set.h) and reports errors and
// points. `calibrate` fits machine parameters to such a file by coordinate descent on the mean error.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "explore/validate/data_set.h"
#include "platform/base/text.h"
#include "platform/report/table.h"

namespace attnvp::validate {

// Prediction errors; an error is predicted / measured - 1.
struct Errors {
  double mape = 0;      // mean magnitude
  double bias = 0;      // mean; positive if predictions are too high
  double spearman = 0;  // rank correlation; for several quantities, the mean over them weighted by number of points
  double worst = 0;     // largest magnitude
  std::optional<double> within_groups;  // correlation_within, for kinds with groups
};

double error_of(const MeasuredPoint& point);
// The point with a time in microseconds; other quantities have one unit each.
MeasuredPoint in_common_unit(MeasuredPoint point);
Errors errors_of(const std::vector<MeasuredPoint>& points);

// Pearson correlation; 1 if it is undefined.
double correlation(const std::vector<double>& a, const std::vector<double>& b);
// Mean correlation of predictions and measurements within groups of at least three points; empty without such groups.
// It shows whether predictions follow measurements for similar rows.
std::optional<double> correlation_within(const std::vector<std::string>& groups,
                                         const std::vector<MeasuredPoint>& points);

// Correlation of the ranks, ties at their mean rank; 1 if it is undefined.
double rank_correlation(const std::vector<double>& a, const std::vector<double>& b);

// Points of one result of the rows.
struct PointSeries {
  std::string name;                 // key in JSON
  std::vector<std::uint64_t> rows;  // row of each point, counted from 1
  std::vector<MeasuredPoint> points;
  Errors errors;
};

struct SetResult {
  std::string kind;  // name of the file's kind
  std::string set;   // the kind's name; for measured kernels, the file's
  std::string hardware;
  std::vector<std::string> columns;
  std::vector<config::CsvLine> lines;
  std::vector<std::uint64_t> rows;    // row of each point, counted from 1: lines[0] is row 1
  std::vector<MeasuredPoint> points;  // in file order
  Errors errors;
  std::vector<PointSeries> further;  // other results of the rows
};
// Share of points whose range covers the measurement; empty if none has a range.
std::optional<double> coverage_of(const std::vector<MeasuredPoint>& points);

// Predicts the rows of files in one process per processor of the host. `progress` receives the numbers of completed and
// of all rows. Throws config::ConfigError for unknown columns or invalid cells, and job::RunError.
using RowProgress = std::function<void(std::size_t done, std::size_t all)>;
std::vector<SetResult> validate(const std::vector<std::string>& paths, const DataSetOptions& options,
                                const RowProgress& progress = {});
SetResult validate(const std::string& path, const DataSetOptions& options, const RowProgress& progress = {});

// File of a shipped data set: configs/validation/NAME.csv. Throws config::ConfigError.
std::string file_of_set(const std::string& name);
std::vector<std::string> files_of_sets();  // all of them, sorted

struct Fit {
  struct FittedValue {
    std::string key, before, after;  // as written in a machine file
  };
  std::string set, hardware;
  std::vector<FittedValue> values;
  Errors before, after;
  std::size_t runs = 0;  // evaluations of the whole set
};

// At most three keys, all numbers. Throws config::ConfigError.
Fit calibrate(const std::string& path, const DataSetOptions& options, const std::vector<std::string>& keys,
              const std::function<void(const std::string&)>& progress, const RowProgress& rows);
std::string to_text(const Fit& fit);
// Whether a file has kernels with counters and power, whose energies `fit_text` fits.
bool has_power(const std::string& path);
std::string fit_text(const std::string& path, const DataSetOptions& options);

// Whether a file has rows of power over time, of which `course_svg` (decode_set.h) makes a figure.
bool has_course(const std::string& path);

// Outputs of `attnvp validate`.
std::string to_text(const SetResult& result);  // errors and the worst rows
std::string to_json(const SetResult& result);
std::string to_csv(const SetResult& result);                 // one line per point
std::string to_html(const std::vector<SetResult>& results);  // a log-log plot and all points of each set

// Several sets: docs/results/validation.md with the path of its plot, the plot (all rows, a panel for each unit), one
// terminal line per set, and a combined JSON document.
std::string to_markdown(const std::vector<SetResult>& results, const std::string& plot);
std::string to_svg(const std::vector<SetResult>& results);
std::string summary(const std::vector<SetResult>& results, std::size_t line_width = text::kUnlimited);
std::string to_json(const std::vector<SetResult>& results);

// Parts of the outputs of a set: errors, rows and groups of rows as text, and plots.

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
