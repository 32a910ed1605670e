// Measurements by others beside this platform's predictions: a file of measurements is of a kind (data_set.h), which
// predicts its rows; out come errors and the points. `calibrate` fits values of a machine to such a file: the mean
// error's descent, one key after the other.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "explore/validate/data_set.h"
#include "platform/text/line_width.h"

namespace attnvp::validate {

// How far predictions are from measurements. An error is predicted / measured - 1.
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

struct Result {
  std::string set, hardware;
  std::vector<std::string> columns;
  std::vector<config::CsvLine> lines;
  std::vector<std::uint64_t> rows;  // of each point: 1 is lines[0]
  std::vector<Point> points;        // in the order of the file
  Errors errors;
};

// Rows are predicted by as many processes as the host has processors. Throws config::ConfigError: columns of no kind,
// a cell that cannot be; job::RunError.
// `progress` is told how many of how many rows are done.
using RowProgress = std::function<void(std::size_t done, std::size_t all)>;
Result validate(const std::string& path, const Options& options, const RowProgress& progress = {});

// The file of a set that comes with the program: configs/validation/NAME.csv. Throws config::ConfigError.
std::string file_of_set(const std::string& name);
std::vector<std::string> files_of_sets();  // all of them, sorted

struct Fit {
  struct Value {
    std::string key, before, after;  // as they are written in a machine file
  };
  std::string set, hardware;
  std::vector<Value> values;
  Errors before, after;
  std::size_t runs = 0;  // of the whole set
};

// At most three keys, all numbers. Throws config::ConfigError.
Fit calibrate(const std::string& path, const Options& options, const std::vector<std::string>& keys,
              const std::function<void(const std::string&)>& progress, const RowProgress& rows);
std::string to_text(const Fit& fit);

// What `attnvp validate` writes.
std::string to_text(const Result& result);  // errors and the worst rows
std::string to_json(const Result& result);
std::string to_csv(const Result& result);                 // one line a point
std::string to_html(const std::vector<Result>& results);  // a log-log plot and all points of each

// Several sets: docs/results/validation.md, one line a set on the terminal, and a document with all of theirs.
std::string to_markdown(const std::vector<Result>& results);
std::string summary(const std::vector<Result>& results, std::size_t line_width = text::kUnlimited);
std::string to_json(const std::vector<Result>& results);

}  // namespace attnvp::validate
