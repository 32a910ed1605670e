#include "explore/analysis/pareto.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "platform/config/error.h"
#include "platform/report/csv.h"
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
  // In this order only a row of the front so far can beat another one.
  std::vector<std::size_t> front;
  double least_second = std::numeric_limits<double>::infinity();
  for (const std::size_t i : order) {
    if (costs[i].size() == 2) {  // the second goal alone tells
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
  for (const Row& row : s.rows()) {
    if (row[network] == s.rows().front()[network]) continue;
    throw config::ConfigError(
        fmt::format("{}: holds several layers, {} and {} among them, which do not compare; choose one with --where "
                    "\"network == '{}'\"",
                    database, s.text(s.rows().front(), network), s.text(row, network), s.text(row, network)));
  }
  Front front;
  front.goals = std::move(goals);
  for (const Row& row : s.rows()) {
    std::vector<double> costs;
    for (const Goal& goal : front.goals) costs.push_back(goal.cost(row));
    front.costs.push_back(std::move(costs));
  }
  front.rows = pareto_front(front.costs);
  return front;
}

std::string within_text(const Selection& s, const Front& front, double percent) {
  const auto cost = [&](std::size_t row, std::size_t goal) { return front.costs[row][goal]; };
  // In this order the first one has the best first goal, and whoever comes later gives of it for the second.
  const double best = cost(front.rows.front(), 0);
  std::size_t chosen = front.rows.front();
  for (const std::size_t row : front.rows) {
    if (cost(row, 0) - best > std::abs(best) * percent / 100) break;
    if (cost(row, 1) < cost(chosen, 1)) chosen = row;
  }
  const Goal &x = front.goals[0], &y = front.goals[1];
  const Row& row = s.rows()[chosen];
  const double worse = best != 0 ? (cost(chosen, 0) - best) / std::abs(best) : 0;
  const bool column = find_column(y.name()) != nullptr;  // written as its key's values are: 256 KiB
  const std::string given = column ? s.text(row, column_index(y.name())) : y.shown(y.value(row));
  return fmt::format("{} {} within {:g}% of the best {}: {}\n  {} {}, {:.1f}% {} than the best\n  {}\n  {}\n",
                     y.most() ? "the most" : "the least", y.name(), percent, x.name(), given, x.name(),
                     x.shown(x.value(row)), 100 * worse, x.most() ? "less" : "more", s.settings(row),
                     s.text(row, column_index("command")));
}

std::string front_table(const Selection& s, const Front& front, std::size_t most_rows) {
  report::Table table;
  for (const Goal& goal : front.goals) table.column(goal.name());
  for (const std::size_t axis : s.axes()) {
    const bool left = columns()[axis].is_text();
    table.column(columns()[axis].name, left ? report::Table::Align::kLeft : report::Table::Align::kRight);
  }
  for (std::size_t i = 0; i < std::min(front.rows.size(), most_rows); ++i) {
    const Row& row = s.rows()[front.rows[i]];
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
  add("command", true);
  for (const std::size_t i : front.rows) {
    const Row& row = s.rows()[i];
    for (const Goal& goal : front.goals) add(csv_number(goal.value(row)));
    for (const std::size_t axis : s.axes()) {
      add(columns()[axis].is_text() ? s.text(row, axis) : csv_number(s.number(row, axis)));
    }
    add(s.text(row, column_index("command")), true);
  }
  return out;
}

}  // namespace attnvp::explore
