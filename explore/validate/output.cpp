#include <fmt/format.h>

#include <map>
#include <utility>

#include "explore/validate/tables.h"
#include "explore/validate/validate.h"
#include "platform/base/text.h"
#include "platform/report/json.h"
#include "platform/report/page/page.h"
#include "platform/report/table.h"

namespace attnvp::validate {

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
