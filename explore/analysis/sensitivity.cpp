#include "explore/analysis/sensitivity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "platform/report/csv.h"
#include "platform/report/table.h"

namespace attnvp::explore {

namespace {

using report::csv_cell;
using report::csv_number;

constexpr std::size_t kMostLevels = 12;
constexpr std::size_t kParts = 8;

// Rows by level, in the order of the axis.
std::vector<std::pair<std::string, std::vector<std::size_t>>> levels_of(const Selection& s, std::size_t axis) {
  std::map<Cell, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < s.rows().size(); ++i) groups[s.rows()[i][axis]].push_back(i);
  std::vector<std::pair<std::string, std::vector<std::size_t>>> levels;
  if (groups.size() <= kMostLevels || columns()[axis].is_text()) {
    for (auto& [value, rows] : groups) levels.emplace_back(s.text(s.rows()[rows.front()], axis), std::move(rows));
    return levels;
  }
  std::vector<std::size_t> part;
  const std::size_t want = (s.rows().size() + kParts - 1) / kParts;
  for (auto group = groups.begin(); group != groups.end(); ++group) {
    part.insert(part.end(), group->second.begin(), group->second.end());
    if (part.size() < want && std::next(group) != groups.end()) continue;
    levels.emplace_back(
        fmt::format("{} to {}", s.text(s.rows()[part.front()], axis), s.text(s.rows()[part.back()], axis)),
        std::move(part));
    part.clear();
  }
  return levels;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

Effect effect_of(const Selection& s, std::size_t axis, const std::vector<double>& values) {
  Effect e;
  e.axis = axis;
  const bool logarithms = std::all_of(values.begin(), values.end(), [](double v) { return v > 0; });
  const auto scaled = [&](double v) { return logarithms ? std::log(v) : v; };
  std::vector<double> all;
  all.reserve(values.size());
  for (const double v : values) all.push_back(scaled(v));
  const double centre = mean(all);
  double total = 0, between = 0;
  for (const double v : all) total += (v - centre) * (v - centre);
  double least = std::numeric_limits<double>::infinity(), most = -least;
  e.level_of.resize(values.size());
  for (const auto& [text, rows] : levels_of(s, axis)) {
    double sum = 0;
    for (const std::size_t i : rows) sum += all[i];
    const double m = sum / static_cast<double>(rows.size());
    between += static_cast<double>(rows.size()) * (m - centre) * (m - centre);
    const auto raw = [&](double v) { return logarithms ? std::exp(v) : v; };
    const auto [low, high] = std::minmax_element(rows.begin(), rows.end(),
                                                 [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    for (const std::size_t i : rows) e.level_of[i] = e.levels.size();
    e.levels.push_back({text, rows.size(), raw(m), values[*low], values[*high]});
    least = std::min(least, raw(m));
    most = std::max(most, raw(m));
  }
  e.share = total > 0 ? between / total : 0;
  e.factor = least > 0 ? most / least : std::numeric_limits<double>::quiet_NaN();
  return e;
}

}  // namespace

std::vector<Effect> sensitivity_of(const Selection& s, const std::vector<Goal>& goals) {
  std::vector<Effect> effects;
  for (const std::size_t axis : s.axes()) {
    for (std::size_t g = 0; g < goals.size(); ++g) {
      std::vector<double> values;
      for (const Row& row : s.rows()) values.push_back(goals[g].value(row));
      effects.push_back(effect_of(s, axis, values));
      effects.back().goal = g;
    }
  }
  // An axis' effects stay together; the axis that explains most comes first.
  std::map<std::size_t, double> largest;
  for (const Effect& e : effects) largest[e.axis] = std::max(largest[e.axis], e.share);
  std::stable_sort(effects.begin(), effects.end(),
                   [&](const Effect& a, const Effect& b) { return largest[a.axis] > largest[b.axis]; });
  return effects;
}

std::string sensitivity_table(const std::vector<Effect>& effects, const std::vector<Goal>& goals) {
  report::Table table;
  table.column("axis", report::Table::Align::kLeft);
  table.column("objective", report::Table::Align::kLeft);
  table.column("explains");
  table.column("worst / best");
  table.column("best at", report::Table::Align::kLeft);
  table.column("mean there");
  table.column("worst at", report::Table::Align::kLeft);
  table.column("mean there");
  for (const Effect& e : effects) {
    const Goal& goal = goals[e.goal];
    const auto order = [](const Level& a, const Level& b) { return a.mean < b.mean; };
    auto [best, worst] = std::minmax_element(e.levels.begin(), e.levels.end(), order);
    if (goal.most()) std::swap(best, worst);
    const bool first = &e == &effects.front() || (&e - 1)->axis != e.axis;
    table.row({first ? columns()[e.axis].name : "", goal.name(), report::percent(e.share),
               fmt::format("{:.2f}x", e.factor), best->text, goal.shown(best->mean), worst->text,
               goal.shown(worst->mean)});
  }
  return table.text(text::line_width());
}

std::string sensitivity_csv(const std::vector<Effect>& effects, const std::vector<Goal>& goals) {
  std::string out = "axis,objective,level,jobs,mean,least,most,axis_explains\n";
  for (const Effect& e : effects) {
    for (const Level& l : e.levels) {
      out +=
          fmt::format("{},{},{},{},{},{},{},{:.6f}\n", columns()[e.axis].name, csv_cell(goals[e.goal].name()),
                      csv_cell(l.text), l.rows, csv_number(l.mean), csv_number(l.least), csv_number(l.most), e.share);
    }
  }
  return out;
}

}  // namespace attnvp::explore
