#include "explore/validate/validate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "explore/validate/processes.h"
#include "platform/config/catalog.h"
#include "platform/config/document.h"
#include "platform/config/words.h"

namespace attnvp::validate {

namespace fs = std::filesystem;
using config::ConfigError;

namespace {

bool has_all(const std::vector<std::string>& columns, const std::vector<std::string>& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const std::string& name) {
    return std::find(columns.begin(), columns.end(), name) != columns.end();
  });
}

const Kind& kind_of(const config::CsvLine& names) {
  std::vector<std::string> known;
  for (const Kind& kind : kinds()) {
    if (has_all(names.cells, kind.columns)) return kind;
    known.push_back(fmt::format("{} ({})", kind.name, fmt::join(kind.columns, ",")));
  }
  config::fail(names.origin,
               fmt::format("columns {} are of no known set; known: {}",
                           config::in_quotes(fmt::format("{}", fmt::join(names.cells, ","))), fmt::join(known, "; ")));
}

}  // namespace

std::size_t Row::index(const char* column) const {
  return static_cast<std::size_t>(std::find(columns_->begin(), columns_->end(), column) - columns_->begin());
}

std::uint64_t Row::whole(const char* column) const {
  constexpr double kMost = 9007199254740992;  // 2^53: beyond, not every whole number is one
  const double value = from_zero(column);
  if (value != std::floor(value) || value > kMost) {
    config::fail(origin(), fmt::format("found {}; allowed is a whole number", config::in_quotes(text(column))));
  }
  return static_cast<std::uint64_t>(value);
}

bool Row::flag(const char* column) const {
  const std::uint64_t value = whole(column);
  if (value > 1) config::fail(origin(), fmt::format("column '{}': found {}; allowed are 0 and 1", column, value));
  return value == 1;
}

Result validate(const std::string& path, const Options& options, const RowProgress& progress) {
  Result result;
  result.lines = config::read_csv_table(path);
  const Kind& kind = kind_of(result.lines.front());
  result.set = kind.name;
  result.columns = result.lines.front().cells;
  result.lines.erase(result.lines.begin());

  const std::unique_ptr<DataSet> set = kind.make(options);
  result.hardware = set->hardware();
  std::vector<Row> rows;
  for (const config::CsvLine& line : result.lines) rows.emplace_back(result.columns, line, rows.size() + 1);
  const std::vector<std::vector<Point>> points = predict_in_processes(*set, rows, [&](std::size_t done) {
    if (progress) progress(done, rows.size());
  });
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (const Point& point : points[i]) {
      result.rows.push_back(i + 1);
      result.points.push_back(point);
    }
  }
  result.errors = errors_of(result.points);
  if (!kind.group.empty()) {
    std::vector<std::string> groups;
    for (const std::uint64_t row : result.rows) {
      std::string& group = groups.emplace_back();
      for (const std::string& column : kind.group) group += rows[row - 1].text(column.c_str()) + ",";
    }
    result.errors.within_groups = correlation_within(groups, result.points);
  }
  return result;
}

std::vector<std::string> files_of_sets() {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fs::path(config::config_root()) / "validation", error)) {
    if (entry.path().extension() == ".csv") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string file_of_set(const std::string& name) {
  const fs::path folder = fs::path(config::config_root()) / "validation";
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".csv") continue;
    names.push_back(entry.path().stem().string());
    if (names.back() == name) return entry.path().string();
  }
  std::sort(names.begin(), names.end());
  throw ConfigError(fmt::format("set {} is unknown{}; a file of your own is given by --data FILE.csv",
                                config::in_quotes(name), names.empty() ? "" : config::hint(name, names)));
}

}  // namespace attnvp::validate
