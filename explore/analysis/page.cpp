#include "explore/analysis/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "explore/analysis/measure.h"
#include "platform/base/text.h"
#include "platform/report/json.h"
#include "platform/report/page/page.h"
#include "platform/report/table.h"

namespace attnvp::explore {

namespace page_files {  // made by cmake/embed.cmake
extern const std::string_view html, script;
}  // namespace page_files

namespace {

using nlohmann::ordered_json;

const char* const kNumbers[] = {"cycles",          "seconds",          "energy_pj.total", "utilization.mac",
                                "utilization.vec", "utilization.dram", "l1.peak_bytes"};

std::string number_text(const Selection& s, const SqlRow& row, std::size_t column) {
  const double value = s.number(row, column);
  if (columns()[column].name.rfind("utilization.", 0) == 0) return report::percent(value);
  return shown(value, columns()[column].dimension);
}

ordered_json goals_of(const Selection& s, const Front& front) {
  ordered_json goals = ordered_json::array();
  for (const Goal& goal : front.goals) {
    std::vector<double> values;
    for (const SqlRow& row : s.rows()) values.push_back(goal.value(row));
    const Measure m = measure_of(goal, values);
    goals.push_back(
        {{"name", goal.name()}, {"words", m.words}, {"unit", m.unit}, {"scale", m.scale}, {"most", goal.most()}});
  }
  return goals;
}

std::size_t place_of(const Selection& s, std::size_t axis) {
  return static_cast<std::size_t>(std::find(s.axes().begin(), s.axes().end(), axis) - s.axes().begin());
}

ordered_json effects_of(const Selection& s, const std::vector<Effect>& effects) {
  ordered_json out = ordered_json::array();
  for (const Effect& e : effects) {
    ordered_json levels = ordered_json::array();
    for (const Level& l : e.levels) {
      levels.push_back({{"text", l.text}, {"jobs", l.rows}, {"mean", l.mean}, {"least", l.least}, {"most", l.most}});
    }
    out.push_back({{"axis", place_of(s, e.axis)},
                   {"goal", e.goal},
                   {"share", e.share},
                   {"factor", e.factor},  // null: undefined
                   {"levels", std::move(levels)}});
  }
  return out;
}

std::vector<ordered_json> levels_of(const Selection& s, const std::vector<Effect>& effects) {
  std::vector<ordered_json> levels(s.rows().size(), ordered_json::array());
  for (const std::size_t axis : s.axes()) {
    const auto e = std::find_if(effects.begin(), effects.end(), [&](const Effect& x) { return x.axis == axis; });
    for (std::size_t i = 0; i < levels.size(); ++i) levels[i].push_back(e->level_of[i]);
  }
  return levels;
}

std::string tiling_of(const Selection& s, const SqlRow& row) {
  std::string tiling;
  for (const char* key : {"bb", "hh", "nq", "nkv", "m0", "n0", "k0", "kv", "rb"}) {
    const std::size_t column = column_index(std::string("tiling.") + key);
    if (std::holds_alternative<std::monostate>(row[column])) continue;
    tiling += fmt::format("{}{}={}", tiling.empty() ? "" : " ", key, s.text(row, column));
  }
  return tiling;
}

ordered_json data_of(const Page& page, const Selection& s, const Front& front, const std::vector<Effect>& effects) {
  ordered_json data{
      {"goals", goals_of(s, front)},       {"axes", ordered_json::array()}, {"numbers", ordered_json::array()},
      {"effects", effects_of(s, effects)}, {"front", front.rows},           {"versus", page.versus},
      {"jobs", ordered_json::array()}};
  for (const std::size_t axis : s.axes()) {
    data["axes"].push_back({{"words", words_of(columns()[axis].name)}, {"text", columns()[axis].is_text()}});
  }
  std::vector<std::size_t> numbers;
  for (const char* name : kNumbers) {
    const auto is_it = [&](const Goal& g) { return g.name() == name; };
    if (std::any_of(front.goals.begin(), front.goals.end(), is_it)) continue;
    numbers.push_back(column_index(name));
    data["numbers"].push_back(words_of(name));
  }
  std::vector<ordered_json> levels = levels_of(s, effects);
  for (std::size_t i = 0; i < s.rows().size(); ++i) {
    const SqlRow& row = s.rows()[i];
    ordered_json at = ordered_json::array(), goals = ordered_json::array(), axes = ordered_json::array(),
                 texts = ordered_json::array();
    for (const Goal& goal : front.goals) {
      at.push_back(goal.value(row));
      goals.push_back(goal.shown(goal.value(row)));
    }
    for (const std::size_t axis : s.axes()) axes.push_back(s.text(row, axis));
    for (const std::size_t column : numbers) texts.push_back(number_text(s, row, column));
    data["jobs"].push_back({{"at", std::move(at)},
                            {"goals", std::move(goals)},
                            {"axes", std::move(axes)},
                            {"levels", std::move(levels[i])},
                            {"numbers", std::move(texts)},
                            {"tiling", tiling_of(s, row)},
                            {"key", s.text(row, column_index("key"))},
                            {"command", s.text(row, column_index("command"))}});
  }
  return data;
}

}  // namespace

std::string page_html(const Page& page, const Selection& s, const Front& front, const std::vector<Effect>& effects) {
  const std::string data = report::json_for_html(data_of(page, s, front, effects));
  const std::string title = text::escaped_for_html(page.title);
  return text::fill(page_files::html, {{"TITLE", title},
                                       {"CSS", report::page_files::css},
                                       {"DATA", data},
                                       {"CHART", report::page_files::chart},
                                       {"COMMON", report::page_files::common},
                                       {"SCRIPT", page_files::script}});
}

}  // namespace attnvp::explore
