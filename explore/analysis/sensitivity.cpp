#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "explore/analysis/analysis.h"
#include "explore/plot/svg.h"
#include "platform/base/text.h"
#include "platform/report/table.h"

namespace attnvp::explore {

namespace {

using report::csv_cell;
using report::csv_number;

constexpr std::size_t kMostLevels = 12;
constexpr std::size_t kParts = 8;

// Rows by level, in axis order.
std::vector<std::pair<std::string, std::vector<std::size_t>>> levels_of(const Selection& s, std::size_t axis) {
  std::map<SqlValue, std::vector<std::size_t>> groups;
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
      for (const SqlRow& row : s.rows()) values.push_back(goals[g].value(row));
      effects.push_back(effect_of(s, axis, values));
      effects.back().goal = g;
    }
  }
  // Effects of an axis stay together; the axis that explains the most comes first.
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

namespace {

constexpr double kPanelWidth = 250, kPanelHeight = 190, kLeft = 84, kTop = 34, kBottom = 62, kGap = 18;

// Means as a line (numbers) or as dots, over bars for the rows' range.
std::string panel(const Effect& e, const Measure& measure, double x0, double y0, bool first_column) {
  const plot::Frame f{x0, x0 + kPanelWidth - kGap, y0 + kTop, y0 + kPanelHeight - kBottom};
  std::vector<double> values;
  for (const Level& l : e.levels) {
    values.push_back(l.least);
    values.push_back(l.most);
  }
  const plot::Scale y = plot::scale_of(values, f.bottom, f.top);
  const auto n = static_cast<double>(e.levels.size());
  const auto x = [&](std::size_t i) { return f.left + (static_cast<double>(i) + 0.5) / n * (f.right - f.left); };
  std::string out;
  for (const double v : y.ticks(3)) {
    out += plot::line(f.left, y(v), f.right, y(v), "stroke=\"#ddd\"");
    if (first_column) out += plot::label(f.left - 6, y(v) + 4, "end", measure.tick(v));
  }
  out += plot::line(f.left, f.bottom, f.right, f.bottom, "stroke=\"#222\"");
  std::string path;
  for (std::size_t i = 0; i < e.levels.size(); ++i) {
    const Level& l = e.levels[i];
    out +=
        plot::line(x(i), y(l.least), x(i), y(l.most), "stroke=\"#9bb8d3\" stroke-width=\"6\" stroke-linecap=\"round\"");
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x(i), y(l.mean));
    out += fmt::format(
        "<text transform=\"translate({:.1f} {:.1f}) rotate(-35)\" text-anchor=\"end\" font-size=\"10\">{}</text>\n",
        x(i) + 4, f.bottom + 13, text::escaped_for_html(l.text));
  }
  if (!columns()[e.axis].is_text()) {
    out += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"#0b4a7f\" stroke-width=\"1.6\"/>\n", path);
  }
  for (std::size_t i = 0; i < e.levels.size(); ++i) {
    out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.4\" fill=\"#0b4a7f\"/>\n", x(i), y(e.levels[i].mean));
  }
  out += plot::label(f.left, f.top - 8, "start",
                     fmt::format("{}: {} explained", words_of(columns()[e.axis].name), report::percent(e.share)));
  return out;
}

}  // namespace

std::string sensitivity_svg(const std::vector<Effect>& effects, const std::vector<Goal>& goals) {
  const std::size_t per_row = effects.size() / std::max<std::size_t>(goals.size(), 1);
  const double width = kLeft + kPanelWidth * static_cast<double>(std::max<std::size_t>(per_row, 1));
  const double height = kPanelHeight * static_cast<double>(goals.size()) + 26;
  std::string out = plot::open_svg(width, height);
  out += "<g font-size=\"14\" font-weight=\"bold\">" +
         plot::label(width / 2, 20, "middle", "means (dots) and ranges (bars) at each value of an axis") + "</g>\n";
  std::vector<Measure> measures;
  for (std::size_t g = 0; g < goals.size(); ++g) {
    std::vector<double> values;
    for (const Effect& e : effects) {
      for (const Level& l : e.levels) {
        if (e.goal == g) values.push_back(l.most);
      }
    }
    measures.push_back(measure_of(goals[g], values));
  }
  std::vector<std::size_t> column(goals.size(), 0);
  for (const Effect& e : effects) {
    const std::size_t c = column[e.goal]++;
    out += panel(e, measures[e.goal], kLeft + kPanelWidth * static_cast<double>(c),
                 20 + kPanelHeight * static_cast<double>(e.goal), c == 0);
  }
  for (std::size_t g = 0; g < goals.size(); ++g) {
    out +=
        fmt::format("<text transform=\"translate(16 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                    20 + kPanelHeight * (static_cast<double>(g) + 0.45), text::escaped_for_html(measures[g].title()));
  }
  return out + "</svg>\n";
}

}  // namespace attnvp::explore
