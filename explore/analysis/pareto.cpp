#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "explore/analysis/analysis.h"
#include "explore/plot/svg.h"
#include "platform/base/text.h"
#include "platform/machine/error.h"
#include "platform/report/table.h"

namespace attnvp::explore {

namespace {

using report::csv_cell;
using report::csv_number;

bool beats(const std::vector<double>& a, const std::vector<double>& b) {
  bool better = false;
  for (std::size_t g = 0; g < a.size(); ++g) {
    if (a[g] > b[g]) return false;
    better = better || a[g] < b[g];
  }
  return better;
}

}  // namespace

std::vector<std::size_t> pareto_front(const std::vector<std::vector<double>>& costs) {
  std::vector<std::size_t> order(costs.size());
  std::iota(order.begin(), order.end(), 0);
  order.erase(std::remove_if(order.begin(), order.end(),
                             [&](std::size_t i) {
                               return std::any_of(costs[i].begin(), costs[i].end(),
                                                  [](double c) { return std::isnan(c); });
                             }),
              order.end());
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return costs[a] < costs[b]; });
  // In this order only a row of the front found so far can dominate another one.
  std::vector<std::size_t> front;
  double least_second = std::numeric_limits<double>::infinity();
  for (const std::size_t i : order) {
    if (costs[i].size() == 2) {  // the second goal alone decides
      const bool equal = !front.empty() && costs[front.back()] == costs[i];
      if (!equal && costs[i][1] >= least_second) continue;
      least_second = costs[i][1];
    } else if (std::any_of(front.begin(), front.end(), [&](std::size_t f) { return beats(costs[f], costs[i]); })) {
      continue;
    }
    front.push_back(i);
  }
  return front;
}

Front front_of(const Selection& s, std::vector<Goal> goals, const std::string& database) {
  const std::size_t network = column_index("network");
  for (const SqlRow& row : s.rows()) {
    if (s.networks().any() || row[network] == s.rows().front()[network]) continue;
    throw config::ConfigError(
        fmt::format("{}: holds several layers, {} and {} among them, which do not compare; choose one with --where "
                    "\"network == '{}'\", or name them with --network",
                    database, s.text(s.rows().front(), network), s.text(row, network), s.text(row, network)));
  }
  Front front;
  front.goals = std::move(goals);
  for (const SqlRow& row : s.rows()) {
    std::vector<double> costs;
    for (const Goal& goal : front.goals) costs.push_back(goal.cost(row));
    front.costs.push_back(std::move(costs));
  }
  front.rows = pareto_front(front.costs);
  return front;
}

std::string within_text(const Selection& s, const Front& front, double percent) {
  const auto cost = [&](std::size_t row, std::size_t goal) { return front.costs[row][goal]; };
  // In this order the first row has the best first goal; later rows trade it for the second.
  const double best = cost(front.rows.front(), 0);
  std::size_t chosen = front.rows.front();
  for (const std::size_t row : front.rows) {
    if (cost(row, 0) - best > std::abs(best) * percent / 100) break;
    if (cost(row, 1) < cost(chosen, 1)) chosen = row;
  }
  const Goal &x = front.goals[0], &y = front.goals[1];
  const SqlRow& row = s.rows()[chosen];
  const double worse = best != 0 ? (cost(chosen, 0) - best) / std::abs(best) : 0;
  const bool column = find_column(y.name()) != nullptr;  // formatted as its key's values: 256 KiB
  const std::string given = column ? s.text(row, column_index(y.name())) : y.shown(y.value(row));
  std::string out = fmt::format("{} {} within {:g}% of the best {}: {}\n  {} {}, {:.1f}% {} than the best\n  {}\n",
                                y.most() ? "the most" : "the least", y.name(), percent, x.name(), given, x.name(),
                                x.shown(x.value(row)), 100 * worse, x.most() ? "less" : "more", s.settings(row));
  for (const auto& command : s.commands(row)) out += fmt::format("  {}\n", command.second);
  return out;
}

std::string front_table(const Selection& s, const Front& front, std::size_t most_rows) {
  report::Table table;
  for (const Goal& goal : front.goals) table.column(goal.name());
  for (const std::size_t axis : s.axes()) {
    const bool left = columns()[axis].is_text();
    table.column(columns()[axis].name, left ? report::Table::Align::kLeft : report::Table::Align::kRight);
  }
  for (std::size_t i = 0; i < std::min(front.rows.size(), most_rows); ++i) {
    const SqlRow& row = s.rows()[front.rows[i]];
    std::vector<std::string> cells;
    for (const Goal& goal : front.goals) cells.push_back(goal.shown(goal.value(row)));
    for (const std::size_t axis : s.axes()) cells.push_back(s.text(row, axis));
    table.row(std::move(cells));
  }
  return table.text(text::line_width());
}

std::string front_csv(const Selection& s, const Front& front) {
  std::string out;
  const auto add = [&out](const std::string& text, bool last = false) { out += csv_cell(text) + (last ? "\n" : ","); };
  for (const Goal& goal : front.goals) add(goal.name());
  for (const std::size_t axis : s.axes()) add(columns()[axis].name);
  const auto add_all = [&](const std::vector<std::pair<std::string, std::string>>& commands, auto part) {
    for (std::size_t i = 0; i < commands.size(); ++i) add(commands[i].*part, i + 1 == commands.size());
  };
  add_all(s.commands(s.rows().front()), &std::pair<std::string, std::string>::first);
  for (const std::size_t i : front.rows) {
    const SqlRow& row = s.rows()[i];
    for (const Goal& goal : front.goals) add(csv_number(goal.value(row)));
    for (const std::size_t axis : s.axes()) {
      add(columns()[axis].is_text() ? s.text(row, axis) : csv_number(s.number(row, axis)));
    }
    add_all(s.commands(row), &std::pair<std::string, std::string>::second);
  }
  return out;
}

namespace {

constexpr double kWidth = 760, kHeight = 480;
constexpr plot::Frame kFrame{96, 590, 44, 424};
constexpr double kLegend = 612;
constexpr double kDot = 3.6, kRing = 4.2;

std::string legend_entry(std::size_t line, const std::string& color, const std::string& text) {
  const double y = kFrame.top + 14 + 20 * static_cast<double>(line);
  return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\" fill=\"{}\"/>\n", kLegend, y - 4, color) +
         plot::label(kLegend + 12, y, "start", text);
}

}  // namespace

std::string front_svg(const Selection& s, const Front& front, const std::string& title) {
  const Goal& gx = front.goals[0];
  const Goal& gy = front.goals[1];
  const std::size_t dataflow = column_index("dataflow");
  std::vector<double> xs, ys;
  std::vector<std::string> dataflows;
  for (const SqlRow& row : s.rows()) {
    xs.push_back(gx.value(row));
    ys.push_back(gy.value(row));
    const std::string name = s.text(row, dataflow);
    if (std::find(dataflows.begin(), dataflows.end(), name) == dataflows.end()) dataflows.push_back(name);
  }
  std::sort(dataflows.begin(), dataflows.end());
  const plot::Scale x = plot::scale_of(xs, kFrame.left, kFrame.right),
                    y = plot::scale_of(ys, kFrame.bottom, kFrame.top);
  const Measure mx = measure_of(gx, xs), my = measure_of(gy, ys);

  std::string out = plot::open_svg(kWidth, kHeight);
  out += "<g font-size=\"14\" font-weight=\"bold\">" + plot::label(kWidth / 2, 22, "middle", title) + "</g>\n";
  out += plot::axes(
      kFrame, x, y, [&](double v) { return mx.tick(v); }, [&](double v) { return my.tick(v); }, mx.title(), my.title());
  for (std::size_t d = 0; d < dataflows.size(); ++d) {
    std::vector<std::pair<double, double>> places;
    for (std::size_t i = 0; i < s.rows().size(); ++i) {
      if (s.text(s.rows()[i], dataflow) == dataflows[d]) places.emplace_back(x(xs[i]), y(ys[i]));
    }
    out += "<g opacity=\"0.35\">" + plot::dots(places, kDot, plot::color(d)) + "</g>\n";
    out += legend_entry(d, plot::color(d), dataflows[d]);
  }

  const bool third = front.goals.size() > 2;
  double low = 0, high = 0;
  if (third) {
    std::vector<double> zs;
    for (const std::size_t i : front.rows) zs.push_back(front.goals[2].value(s.rows()[i]));
    low = *std::min_element(zs.begin(), zs.end());
    high = *std::max_element(zs.begin(), zs.end());
    const std::size_t at = dataflows.size() + 1;
    out += plot::label(kLegend - 5, kFrame.top + 14 + 20 * static_cast<double>(at), "start",
                       words_of(front.goals[2].name()));
    out += legend_entry(at + 1, plot::shade(0), front.goals[2].shown(low));
    out += legend_entry(at + 2, plot::shade(1), front.goals[2].shown(high));
  } else {  // the region dominated by a point of the front begins at its corner
    std::string path;
    for (const std::size_t i : front.rows) {
      path += path.empty() ? fmt::format("M{:.1f} {:.1f}", x(xs[i]), y(ys[i]))
                           : fmt::format("H{:.1f}V{:.1f}", x(xs[i]), y(ys[i]));
    }
    out += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"#222\" stroke-width=\"1.2\"/>\n", path);
  }
  for (const std::size_t i : front.rows) {
    const SqlRow& row = s.rows()[i];
    const auto d = std::find(dataflows.begin(), dataflows.end(), s.text(row, dataflow)) - dataflows.begin();
    const double z = third ? front.goals[2].value(row) : 0;
    const std::string fill = third ? plot::shade(high > low ? (z - low) / (high - low) : 0)
                                   : std::string(plot::color(static_cast<std::size_t>(d)));
    out += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"{}\" stroke=\"#222\"><title>{}</title></circle>\n",
        x(xs[i]), y(ys[i]), kRing, fill, text::escaped_for_html(s.settings(row)));
  }
  out += plot::label(kLegend - 5, kFrame.bottom, "start",
                     fmt::format("{} of {} jobs", front.rows.size(), s.rows().size()));
  return out + "</svg>\n";
}

}  // namespace attnvp::explore
