#include "explore/analysis/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "platform/report/table.h"

namespace attnvp::explore {

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
