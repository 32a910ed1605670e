#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "explore/plot/svg.h"
#include "explore/validate/data_set.h"
#include "explore/validate/validate.h"
#include "platform/base/text.h"
#include "platform/report/json.h"
#include "platform/report/page/page.h"
#include "platform/report/table.h"

namespace attnvp::validate {

namespace {

constexpr std::size_t kWorstShown = 10;
constexpr double kSteps[] = {0.05, 0.10, 0.25};
constexpr double kBand = 1.10;  // dashed lines at 10% to either side

std::string cells_of(const SetResult& r, std::size_t point) {
  return fmt::format("{}", fmt::join(r.lines[r.rows[point] - 1].cells, ","));
}

double share_within(const SetResult& r, double most) {
  const auto n = std::count_if(r.points.begin(), r.points.end(),
                               [most](const MeasuredPoint& p) { return std::abs(error_of(p)) <= most; });
  return static_cast<double>(n) / static_cast<double>(std::max<std::size_t>(r.points.size(), 1));
}

}  // namespace

std::string signed_percent(double share) { return fmt::format("{:+.1f}%", 100 * share); }

std::vector<std::size_t> worst_first(const SetResult& r) {
  std::vector<std::size_t> order(r.points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::abs(error_of(r.points[a])) > std::abs(error_of(r.points[b]));
  });
  return order;
}

std::vector<std::size_t> worst_rows(const SetResult& r) {
  std::vector<std::size_t> worst = worst_first(r);
  worst.resize(std::min(worst.size(), kWorstShown));
  return worst;
}

report::Table table_of(const SetResult& r, const std::vector<std::size_t>& points) {
  report::Table table;
  using Align = report::Table::Align;
  table.column("row"), table.column("measured"), table.column("predicted"), table.column("error");
  table.column("unit", Align::kLeft);
  table.column("of", Align::kLeft);
  for (const std::size_t i : points) {
    const MeasuredPoint& p = r.points[i];
    std::string of = p.what.empty() ? cells_of(r, i) : p.what + " of " + cells_of(r, i);
    if (!p.note.empty()) of += "; " + p.note;
    table.row({fmt::format("{}", r.rows[i]), fmt::format("{:.4g}", p.measured), fmt::format("{:.4g}", p.predicted),
               signed_percent(error_of(p)), text::printable(p.unit), text::printable(of)});
  }
  return table;
}

std::string errors_text(const SetResult& r) {
  std::string out;
  const auto line = [&out](const char* name, const std::string& value) {
    out += fmt::format("{:<17}{}\n", name, value);
  };
  line("set", text::printable(r.set));
  line("hardware", text::printable(r.hardware));
  line("rows", fmt::format("{}{}", r.lines.size(),
                           r.points.size() == r.lines.size() ? "" : fmt::format(", {} figures", r.points.size())));
  line("mean error", report::percent(r.errors.mape));
  line("bias", signed_percent(r.errors.bias));
  line("rank correlation", fmt::format("{:.4f}", r.errors.spearman));
  if (r.errors.within_groups) line("within groups", fmt::format("{:.3f}, correlation", *r.errors.within_groups));
  line("worst error", report::percent(r.errors.worst));
  for (const double step : kSteps) {
    line(fmt::format("within {:.0f}%", 100 * step).c_str(), report::percent(share_within(r, step)));
  }
  if (const auto covered = coverage_of(r.points)) line("within range", report::percent(*covered));
  return out;
}

std::string further_text(const SetResult& r, std::size_t line_width) {
  if (r.further.empty()) return {};
  report::Table table;
  table.column("result", report::Table::Align::kLeft);
  for (const char* title : {"mean error", "bias", "rank correlation", "worst", "within range"}) table.column(title);
  for (const PointSeries& s : r.further) {
    const auto covered = coverage_of(s.points);
    table.row({text::printable(s.name), report::percent(s.errors.mape), signed_percent(s.errors.bias),
               fmt::format("{:.4f}", s.errors.spearman), report::percent(s.errors.worst),
               covered ? report::percent(*covered) : ""});
  }
  return "\n" + table.text(line_width);
}

// Columns of values, not of labels.
bool is_measured(const std::string& column) {
  static const std::set<std::string> columns = {"time_us", "steady_us", "energy_mj", "power_w", "clock_mhz"};
  return columns.count(column) > 0;
}

std::vector<PointGroup> groups_of(const SetResult& r) {
  constexpr std::size_t kMostValues = 12;  // a column of more is no label
  std::vector<PointGroup> all;
  const auto column = std::find(r.columns.begin(), r.columns.end(), "net");
  if (r.kind != "kernels" || column == r.columns.end()) return all;
  const auto add = [&](const std::string& by, const auto& value_of) {
    std::map<std::string, std::vector<MeasuredPoint>> groups;
    for (std::size_t i = 0; i < r.points.size(); ++i) groups[value_of(i)].push_back(r.points[i]);
    if (groups.size() > kMostValues) return;
    for (auto& [value, points] : groups) all.push_back({by, value, std::move(points)});
  };
  const auto cell = [&](std::size_t point, std::size_t i) { return r.lines[r.rows[point] - 1].cells[i]; };
  const auto net = static_cast<std::size_t>(column - r.columns.begin());
  add("operation", [&](std::size_t i) { return operation_kind(cell(i, net)); });
  constexpr std::pair<const char*, double> kBands[] = {
      {"below 10 us", 10}, {"10 to 100 us", 100}, {"100 us to 1 ms", 1000}, {"from 1 ms", HUGE_VAL}};
  double least = 0;
  for (const auto& [name, end] : kBands) {
    PointGroup band{"time", name, {}};
    std::copy_if(r.points.begin(), r.points.end(), std::back_inserter(band.points),
                 [&, most = end](const MeasuredPoint& p) { return p.measured >= least && p.measured < most; });
    least = end;
    if (!band.points.empty()) all.push_back(std::move(band));
  }
  for (std::size_t i = 0; i < r.columns.size(); ++i) {
    if (i != net && !is_measured(r.columns[i])) add(r.columns[i], [&](std::size_t point) { return cell(point, i); });
  }
  return all;
}

std::string groups_text(const SetResult& r, std::size_t line_width) {
  const std::vector<PointGroup> groups = groups_of(r);
  if (groups.empty()) return {};
  report::Table table;
  using Align = report::Table::Align;
  table.column("by", Align::kLeft), table.column("value", Align::kLeft);
  table.column("rows"), table.column("mean error"), table.column("bias"), table.column("worst");
  for (const PointGroup& g : groups) {
    const Errors e = errors_of(g.points);
    table.row({text::printable(g.by), text::printable(g.value), fmt::format("{}", g.points.size()),
               report::percent(e.mape), signed_percent(e.bias), report::percent(e.worst)});
  }
  return "\n" + table.text(line_width);
}

std::string dot_plot(const std::vector<DotSeries>& series, const std::string& unit, double diameter,
                     const std::string& attributes) {
  constexpr double kSize = 480, kLeft = 80, kTop = 24, kRight = 464, kBottom = 424;
  std::vector<double> values;
  const auto shown = [](const std::pair<double, double>& point) {  // predictions of 0 are drawn at the edge
    return std::pair{point.first, std::max(point.second, point.first / 1000)};
  };
  for (const DotSeries& one : series) {
    for (const auto& point : one.points) values.push_back(shown(point).first), values.push_back(shown(point).second);
  }
  plot::Scale x = plot::scale_of(values, kLeft, kRight);
  if (!x.logarithmic) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    x = {*low / kBand, *high * kBand, kLeft, kRight, true};
  }
  plot::Scale y = x;
  y.pixel_from = kBottom, y.pixel_to = kTop;
  const auto number = [](double value) { return fmt::format("{:g}", value); };
  std::string out = plot::open_svg(kSize, kSize, attributes);
  out += plot::axes({kLeft, kRight, kTop, kBottom}, x, y, number, number, "measured, " + unit, "predicted, " + unit);
  out += plot::line(x(x.from), y(x.from), x(x.to), y(x.to), "stroke=\"#888\"");
  const char* const dashed = "stroke=\"#bbb\" stroke-dasharray=\"4 4\"";
  out += plot::line(x(x.from), y(x.from * kBand), x(x.to / kBand), y(x.to), dashed);
  out += plot::line(x(x.from * kBand), y(x.from), x(x.to), y(x.to / kBand), dashed);
  for (std::size_t i = 0; i < series.size(); ++i) {
    std::vector<std::pair<double, double>> places;
    for (const auto& point : series[i].points) places.emplace_back(x(shown(point).first), y(shown(point).second));
    out += plot::dots(places, diameter, plot::color(i));
    if (series[i].name.empty()) continue;
    const double line = kTop + 16 * static_cast<double>(i + 1);
    out += plot::dots({{kLeft + 12, line - 4}}, 8, plot::color(i));
    out += plot::label(kLeft + 20, line, "start", series[i].name);
  }
  return out + "</svg>\n";
}

namespace {

// Predicted over measured values, one plot per unit, with equal logarithmic axes.
std::string plots(const SetResult& result) {
  std::map<std::string, std::vector<std::pair<double, double>>> by_unit;
  for (const MeasuredPoint& p : result.points) by_unit[p.unit].emplace_back(p.measured, p.predicted);
  std::string out;
  for (const auto& [unit, points] : by_unit) out += dot_plot({{"", points}}, unit, 6);
  return out;
}

}  // namespace

std::string to_text(const SetResult& r) {
  return errors_text(r) + further_text(r, text::line_width()) + groups_text(r, text::line_width()) + "\nworst rows\n" +
         table_of(r, worst_rows(r)).text(text::line_width());
}

namespace {
void fill_points(nlohmann::ordered_json& document, const std::vector<std::uint64_t>& rows,
                 const std::vector<MeasuredPoint>& points, const Errors& errors) {
  document["rows"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < points.size(); ++i) {
    const MeasuredPoint& p = points[i];
    nlohmann::ordered_json row = {
        {"row", rows[i]}, {"measured", p.measured}, {"predicted", p.predicted}, {"unit", p.unit}};
    if (!p.what.empty()) row["what"] = p.what;
    if (!p.note.empty()) row["note"] = p.note;
    if (p.high > 0) row["low"] = p.low, row["high"] = p.high;
    document["rows"].push_back(std::move(row));
  }
  document["mape"] = errors.mape;
  document["bias"] = errors.bias;
  document["spearman"] = errors.spearman;
  if (const auto covered = coverage_of(points)) document["within_range"] = *covered;
}

void fill(nlohmann::ordered_json& document, const SetResult& r) {
  document["set"] = r.set;
  document["hardware"] = r.hardware;
  fill_points(document, r.rows, r.points, r.errors);
  if (r.errors.within_groups) document["correlation_within_groups"] = *r.errors.within_groups;
  document["worst"] = r.errors.worst;
  for (const PointSeries& series : r.further) {
    fill_points(document[series.name], series.rows, series.points, series.errors);
    document[series.name]["worst"] = series.errors.worst;
  }
  for (const PointGroup& g : groups_of(r)) {
    const Errors e = errors_of(g.points);
    document["groups"].push_back({{"by", g.by},
                                  {"value", g.value},
                                  {"rows", g.points.size()},
                                  {"mape", e.mape},
                                  {"bias", e.bias},
                                  {"worst", e.worst}});
  }
}
}  // namespace

std::string to_json(const SetResult& r) {
  nlohmann::ordered_json document = report::json_document();
  fill(document, r);
  return report::json_text(document);
}

std::string to_json(const std::vector<SetResult>& results) {
  nlohmann::ordered_json document = report::json_document();
  document["sets"] = nlohmann::ordered_json::array();
  for (const SetResult& r : results) fill(document["sets"].emplace_back(), r);
  return report::json_text(document);
}

std::string to_csv(const SetResult& r) {
  using report::csv_cell;
  using report::csv_number;
  std::string out = "row,what,measured,predicted,unit,error,note";
  for (const std::string& column : r.columns) out += "," + csv_cell(column);
  out += "\n";
  for (std::size_t i = 0; i < r.points.size(); ++i) {
    const MeasuredPoint& p = r.points[i];
    out += fmt::format("{},{},{},{},{},{},{}", r.rows[i], csv_cell(p.what), csv_number(p.measured),
                       csv_number(p.predicted), csv_cell(p.unit), csv_number(error_of(p)), csv_cell(p.note));
    for (const std::string& cell : r.lines[r.rows[i] - 1].cells) out += "," + csv_cell(cell);
    out += "\n";
  }
  return out;
}

namespace {
std::string section_of(const SetResult& r) {
  return fmt::format(
      "<section><h2>{}</h2>\n<pre>{}</pre>\n<div class=\"panels\">{}</div>\n<details><summary>All rows, worst "
      "first</summary><div class=\"scroll\"><pre>{}</pre></div></details></section>\n",
      text::escaped_for_html(r.set), text::escaped_for_html(errors_text(r)), plots(r),
      text::escaped_for_html(table_of(r, worst_first(r)).text()));
}
}  // namespace

std::string to_html(const std::vector<SetResult>& results) {
  std::string body;
  for (const SetResult& r : results) body += section_of(r);
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width, "
      "initial-scale=1\">\n<title>{0}</title><style>{1}</style></head><body>\n<header><h1>{0}</h1><p>Measurements by "
      "others beside predictions; a dot is a row, the dashed lines are 10% to either "
      "side.</p></header>\n<main>{2}</main></body></html>\n",
      text::escaped_for_html(results.size() == 1 ? "Predictions of " + results.front().set : "Predictions"),
      report::page_files::css, body);
}

}  // namespace attnvp::validate
