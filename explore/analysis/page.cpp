#include "platform/report/page/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <string_view>

#include "explore/analysis/analysis.h"
#include "platform/base/text.h"
#include "platform/report/json.h"
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

namespace {

std::string member_words(const std::string& text) {
  static const char* const kShort[] = {"mac", "vec", "dma", "dram", "l0", "l1", "l2", "pe", "cpu", "rtl", "seq", "kv"};
  std::string out, word;
  std::istringstream all(text);
  while (std::getline(all, word, '_')) {
    const bool known = std::find(std::begin(kShort), std::end(kShort), word) != std::end(kShort);
    out += (out.empty() ? "" : " ") + (known ? report::upper(word) : word);
  }
  return out;
}

struct Prefix {
  double factor;
  const char* name;
};

// The largest prefix for which the largest value is at least 1.
const Prefix& suited(const std::vector<Prefix>& prefixes, double most) {
  for (const Prefix& p : prefixes) {
    if (most >= p.factor) return p;
  }
  return prefixes.back();
}

}  // namespace

std::string words_of(const std::string& column) {
  static const std::map<std::string, const char*> kWhole = {
      {"energy_pj.total", "Energy"}, {"power_w.total", "Mean power"}, {"area_mm2.total", "Area"}, {"seconds", "Time"}};
  static const std::map<std::string, const char*> kGroups = {{"energy_pj", "Energy of"},
                                                             {"power_w", "Mean power of"},
                                                             {"area_mm2", "Area of"},
                                                             {"utilization", "Busy share of"}};
  static const std::map<std::string, const char*> kMembers = {
      {"read_bytes", "bytes read"}, {"write_bytes", "bytes written"}, {"peak_bytes", "peak use"}};
  if (find_column(column) == nullptr) return column;
  if (const auto whole = kWhole.find(column); whole != kWhole.end()) return whole->second;
  const std::size_t dot = column.find('.');
  const std::string first = column.substr(0, dot), rest = dot == std::string::npos ? "" : column.substr(dot + 1);
  std::string out;
  if (const auto group = kGroups.find(first); group != kGroups.end()) {
    out = fmt::format("{} {}", group->second, member_words(rest));
  } else {
    const auto member = kMembers.find(rest);
    out = member_words(first);
    if (!rest.empty()) out += " " + (member != kMembers.end() ? std::string(member->second) : member_words(rest));
  }
  std::replace(out.begin(), out.end(), '.', ' ');
  out[0] = report::upper(out.substr(0, 1))[0];
  return out;
}

Measure measure_of(const Goal& goal, const std::vector<double>& values) {
  static const std::vector<Prefix> kDecimal = {{1e12, "T"}, {1e9, "G"},  {1e6, "M"},  {1e3, "k"},
                                               {1, ""},     {1e-3, "m"}, {1e-6, "u"}, {1e-9, "n"}};
  static const std::vector<Prefix> kBinary = {{1 << 30, "Gi"}, {1 << 20, "Mi"}, {1 << 10, "Ki"}, {1, ""}};
  static const std::vector<Prefix> kCounts = {{1e9, "billions"}, {1e6, "millions"}, {1e4, "thousands"}, {1, ""}};
  double most = 0;
  for (const double v : values) most = std::max(most, std::abs(v));
  const Column* const column = find_column(goal.name());
  const Dimension& d = goal.dimension();
  Measure m{words_of(goal.name()), "", 1};
  const auto with = [&](const std::vector<Prefix>& prefixes, double base, const std::string& unit) {
    const Prefix& p = suited(prefixes, most * base);
    m.scale = base / p.factor;
    m.unit = p.name + unit;
  };
  if (column != nullptr && goal.name().rfind("area_mm2", 0) == 0) {
    m.unit = "mm2";
  } else if (column != nullptr && goal.name().rfind("power_w", 0) == 0) {
    with(kDecimal, 1, "W");
  } else if (column != nullptr && goal.name().rfind("utilization", 0) == 0) {
    m.unit = "%";
    m.scale = 100;
  } else if (d == Dimension{}) {
    const Prefix& p = suited(kCounts, most);
    m.unit = p.name;
    m.scale = (*p.name != '\0' && p.factor == 1e4 ? 1e-3 : 1 / p.factor);
  } else if (d == Dimension{1, 0, 0}) {
    with(column != nullptr && column->key != nullptr ? kBinary : kDecimal, 1, "B");
  } else if (d == Dimension{1, -1, 0}) {
    with(kDecimal, 1, "B/s");
  } else if (d == Dimension{0, -1, 0}) {
    with(kDecimal, 1, "Hz");
  } else if (d == Dimension{0, 1, 0}) {
    with(kDecimal, 1, "s");
  } else if (d == Dimension{0, 0, 1}) {
    with(kDecimal, 1e-12, "J");
  } else {
    m.unit = to_string(d);
  }
  return m;
}

std::string Measure::tick(double value) const {
  const double v = value * scale;
  return std::abs(v) >= 1e4 && std::abs(v) < 1e15 ? fmt::format("{:.0f}", v) : fmt::format("{:.4g}", v);
}

}  // namespace attnvp::explore
