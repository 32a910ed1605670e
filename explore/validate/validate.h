// A file of measurements beside this platform's predictions.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "explore/validate/data_set.h"
#include "explore/validate/errors.h"

namespace attnvp::validate {

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

}  // namespace attnvp::validate
