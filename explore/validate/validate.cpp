#include "explore/validate/validate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "explore/processes/processes.h"
#include "platform/machine/catalog.h"
#include "platform/machine/document.h"
#include "platform/machine/error.h"
#include "platform/machine/words.h"
#include "platform/run/job.h"

namespace attnvp::validate {

namespace fs = std::filesystem;
using config::ConfigError;

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

double error_of(const MeasuredPoint& point) { return point.predicted / point.measured - 1; }

MeasuredPoint in_common_unit(MeasuredPoint point) {
  if (point.unit != "ms") return point;
  constexpr double kMicrosecondsOfMillisecond = 1000;
  for (double* value : {&point.measured, &point.predicted, &point.low, &point.high}) {
    *value *= kMicrosecondsOfMillisecond;
  }
  point.unit = "us";
  return point;
}

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

std::optional<double> correlation_within(const std::vector<std::string>& groups,
                                         const std::vector<MeasuredPoint>& points) {
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

Errors errors_of(const std::vector<MeasuredPoint>& points) {
  Errors errors;
  std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> by_unit;
  for (const MeasuredPoint& point : points) {
    const double error = error_of(point);
    errors.mape += std::abs(error), errors.bias += error, errors.worst = std::max(errors.worst, std::abs(error));
    const MeasuredPoint common = in_common_unit(point);
    auto& [measured, predicted] = by_unit[common.unit];
    measured.push_back(common.measured), predicted.push_back(common.predicted);
  }
  for (const auto& [unit, values] : by_unit) {
    errors.spearman += rank_correlation(values.first, values.second) * static_cast<double>(values.first.size());
  }
  const double n = static_cast<double>(points.empty() ? 1 : points.size());
  errors.mape /= n, errors.bias /= n, errors.spearman /= n;
  return errors;
}

namespace {

using nlohmann::json;

// Serialises a row's points, or its exception, as a line.
std::string answer(DataSet& set, const DataRow& row) {
  json line;
  try {
    line["points"] = json::array();
    for (const MeasuredPoint& p : set.predict(row)) {
      line["points"].push_back({p.what, p.measured, p.predicted, p.unit, p.note, p.low, p.high, p.series});
    }
  } catch (const config::ConfigError& e) {
    line["wrong"] = e.what();
  } catch (const std::exception& e) {
    line["failed"] = fmt::format("{}: {}", row.origin().text(), e.what());
  }
  return line.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::vector<MeasuredPoint> points_of(const std::string& line) {
  const json answer = json::parse(line);
  if (answer.contains("wrong")) throw config::ConfigError(answer["wrong"].get<std::string>());
  if (answer.contains("failed")) throw job::RunError(answer["failed"].get<std::string>());
  std::vector<MeasuredPoint> points;
  for (const json& p : answer["points"]) {
    points.push_back({p[0].get<std::string>(), p[1].get<double>(), p[2].get<double>(), p[3].get<std::string>(),
                      p[4].get<std::string>(), p[5].get<double>(), p[6].get<double>(), p[7].get<std::string>()});
  }
  return points;
}

bool has_all(const std::vector<std::string>& columns, const std::vector<std::string>& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const std::string& name) {
    return std::find(columns.begin(), columns.end(), name) != columns.end();
  });
}

const DataSetKind& kind_of(const config::CsvLine& names) {
  std::vector<std::string> known;
  for (const DataSetKind& kind : kinds()) {
    if (has_all(names.cells, kind.columns)) return kind;
    known.push_back(fmt::format("{} ({})", kind.name, fmt::join(kind.columns, ",")));
  }
  config::fail(names.origin,
               fmt::format("columns {} are of no known set; known: {}",
                           config::in_quotes(fmt::format("{}", fmt::join(names.cells, ","))), fmt::join(known, "; ")));
}

}  // namespace

bool has_power(const std::string& path) {
  return kind_of(config::read_csv_table(path).front()).name == power_kind().name;
}

bool has_course(const std::string& path) {
  return kind_of(config::read_csv_table(path).front()).name == course_kind().name;
}

std::size_t DataRow::index(const char* column) const {
  return static_cast<std::size_t>(std::find(columns_->begin(), columns_->end(), column) - columns_->begin());
}

std::uint64_t DataRow::whole(const char* column) const {
  constexpr double kMost = 9007199254740992;  // 2^53: larger integers are not exact
  const double value = from_zero(column);
  if (value != std::floor(value) || value > kMost) {
    config::fail(origin(), fmt::format("found {}; allowed is a whole number", config::in_quotes(text(column))));
  }
  return static_cast<std::uint64_t>(value);
}

bool DataRow::flag(const char* column) const {
  const std::uint64_t value = whole(column);
  if (value > 1) config::fail(origin(), fmt::format("column '{}': found {}; allowed are 0 and 1", column, value));
  return value == 1;
}

const std::vector<DataSetKind>& kinds() {
  static const std::vector<DataSetKind> all = {dram_kind(),   sram_kind(),  attention_kind(), chain_kind(),
                                               step_kind(),   flash_kind(), kernel_kind(),    power_kind(),
                                               decode_kind(), course_kind()};
  return all;
}

namespace {

PointSeries& series_of(std::vector<PointSeries>& all, const std::string& name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const PointSeries& s) { return s.name == name; });
  return found != all.end() ? *found : all.emplace_back(PointSeries{name, {}, {}, {}});
}

// Measured kernels and steps of a file NAME.csv or NAME-WHAT.csv are of the machine NAME if no other is given.
DataSetOptions with_machine_of(const std::string& path, DataSetOptions options) {
  if (!options.hardware.empty()) return options;
  const std::string set = fs::path(path).stem().string() + "-";
  for (const config::CatalogEntry& entry : config::list(config::Folder::kHardware)) {
    const bool is_of = set.compare(0, entry.name.size() + 1, entry.name + "-") == 0;
    if (is_of && entry.name.size() > options.hardware.size()) options.hardware = entry.name;
  }
  return options;
}

}  // namespace

std::optional<double> coverage_of(const std::vector<MeasuredPoint>& points) {
  std::size_t ranges = 0, covered = 0;
  for (const MeasuredPoint& p : points) {
    if (p.high <= 0) continue;
    ++ranges;
    if (p.low <= p.measured && p.measured <= p.high) ++covered;
  }
  if (ranges == 0) return std::nullopt;
  return static_cast<double>(covered) / static_cast<double>(ranges);
}

namespace {

// A file with its set. Rows refer to the result's lines and columns.
struct OpenSet {
  SetResult result;
  const DataSetKind* kind = nullptr;
  std::unique_ptr<DataSet> set;
  std::vector<DataRow> rows;
};

std::unique_ptr<OpenSet> open_set(const std::string& path, const DataSetOptions& given) {
  auto opened = std::make_unique<OpenSet>();
  SetResult& result = opened->result;
  result.lines = config::read_csv_table(path);
  const DataSetKind& kind = kind_of(result.lines.front());
  opened->kind = &kind;
  result.kind = kind.name;
  result.columns = result.lines.front().cells;
  result.lines.erase(result.lines.begin());

  const std::string of_machines[] = {kernel_kind().name, decode_kind().name, course_kind().name};
  const bool is_of_machine =
      std::find(std::begin(of_machines), std::end(of_machines), kind.name) != std::end(of_machines);
  result.set = is_of_machine ? fs::path(path).stem().string() : kind.name;
  opened->set = kind.make(is_of_machine ? with_machine_of(path, given) : given);
  result.hardware = opened->set->hardware();
  for (const config::CsvLine& line : result.lines) {
    opened->rows.emplace_back(result.columns, line, opened->rows.size() + 1);
  }
  return opened;
}

// Adds a row's predictions to the set's result.
void add_points(OpenSet& opened, std::size_t row, const std::string& line) {
  if (line.empty()) {
    config::fail(opened.rows[row].origin(), "the process that predicts this row ended before its answer");
  }
  SetResult& result = opened.result;
  for (const MeasuredPoint& point : points_of(line)) {
    if (!point.series.empty()) {
      PointSeries& series = series_of(result.further, point.series);
      series.rows.push_back(row + 1), series.points.push_back(point);
      continue;
    }
    result.rows.push_back(row + 1);
    result.points.push_back(point);
  }
}

void add_errors(OpenSet& opened) {
  SetResult& result = opened.result;
  for (PointSeries& series : result.further) series.errors = errors_of(series.points);
  result.errors = errors_of(result.points);
  if (opened.kind->group.empty()) return;
  std::vector<std::string> groups;
  for (const std::uint64_t row : result.rows) {
    std::string& group = groups.emplace_back();
    for (const std::string& column : opened.kind->group) group += opened.rows[row - 1].text(column.c_str()) + ",";
  }
  result.errors.within_groups = correlation_within(groups, result.points);
}

}  // namespace

std::vector<SetResult> validate(const std::vector<std::string>& paths, const DataSetOptions& given,
                                const RowProgress& progress) {
  std::vector<std::unique_ptr<OpenSet>> sets;
  std::vector<std::pair<std::size_t, std::size_t>> items;  // set and row
  for (const std::string& path : paths) {
    sets.push_back(open_set(path, given));
    for (std::size_t row = 0; row < sets.back()->rows.size(); ++row) items.emplace_back(sets.size() - 1, row);
  }
  std::size_t latest = 0;  // in a process: the set of its last item
  const auto predict = [&](std::size_t i) {
    const auto [set, row] = items[i];
    for (; latest < set; ++latest) sets[latest]->set.reset();  // items come in order; frees platforms
    return answer(*sets[set]->set, sets[set]->rows[row]);
  };
  const auto item_done = [&](std::size_t done, std::size_t, const std::string&) {
    if (progress) progress(done, items.size());
  };
  const std::vector<std::string> lines = explore::in_processes(items.size(), 0, predict, item_done);
  for (std::size_t i = 0; i < items.size(); ++i) add_points(*sets[items[i].first], items[i].second, lines[i]);
  std::vector<SetResult> results;
  for (const auto& opened : sets) {
    add_errors(*opened);
    results.push_back(std::move(opened->result));
  }
  return results;
}

SetResult validate(const std::string& path, const DataSetOptions& options, const RowProgress& progress) {
  return validate(std::vector<std::string>{path}, options, progress).front();
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
  throw ConfigError(fmt::format("set {} is unknown{}, or --data FILE.csv", config::in_quotes(name),
                                names.empty() ? "" : config::hint(name, names, "attnvp validate")));
}

}  // namespace attnvp::validate
