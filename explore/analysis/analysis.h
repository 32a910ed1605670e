// Analyses of the rows of a sweep: Pareto front, effect of each axis, comparison of two dataflows, and the HTML page
// with all of them.
#pragma once

#include <string>
#include <vector>

#include "explore/analysis/selection.h"
#include "platform/base/text.h"

namespace attnvp::explore {

// "energy_pj.total" to "Energy", "l1.size" to "L1 size"; other names are returned unchanged.
std::string words_of(const std::string& column);

struct Measure {
  std::string words, unit;  // unit: "mJ", "KiB", "millions"; empty: none
  double scale = 1;         // factor from values to that unit

  std::string title() const { return unit.empty() ? words : words + " (" + unit + ")"; }
  std::string tick(double value) const;
};
Measure measure_of(const Goal& goal, const std::vector<double>& values);

// Pareto front of a sweep's rows.

// Positions of the non-dominated rows, including rows with equal values, sorted by the first goal, then the second,
// ..., then key. `costs`: one vector of goals per row; less is better.
std::vector<std::size_t> pareto_front(const std::vector<std::vector<double>>& costs);

struct Front {
  std::vector<Goal> goals;
  std::vector<std::vector<double>> costs;  // per row of the selection
  std::vector<std::size_t> rows;           // positions on the front
};
// Rows without a number for a goal are excluded. Throws ConfigError if the rows have different layers.
Front front_of(const Selection& selection, std::vector<Goal> goals, const std::string& database);

// The job with the best second goal among those within `percent` of the best first goal, with its settings and command.
// Ties go to the first row of the selection.
std::string within_text(const Selection& selection, const Front& front, double percent);

std::string front_table(const Selection& selection, const Front& front, std::size_t most_rows);
std::string front_csv(const Selection& selection, const Front& front);
// All rows as dots, coloured by dataflow; the front as a line with rings. A third goal determines the colour of the
// front.
std::string front_svg(const Selection& selection, const Front& front, const std::string& title);

// Sensitivity analysis: effect of each axis of a sweep on each goal.

struct Level {  // one value of an axis, or one of several equal parts of its values
  std::string text;
  std::size_t rows = 0;
  double mean = 0;  // geometric; arithmetic if a value is not positive
  double least = 0, most = 0;
};

struct Effect {
  std::size_t axis = 0;  // column
  std::size_t goal = 0;
  std::vector<Level> levels;
  std::vector<std::size_t> level_of;  // level of each row of the selection
  double share = 0;   // share of the variance of the goal's logarithm that the level means explain (eta^2)
  double factor = 1;  // largest mean / smallest mean
};

// All goals for each axis. Axes with more than 12 values are divided into 8 parts with equal numbers of rows.
std::vector<Effect> sensitivity_of(const Selection& selection, const std::vector<Goal>& goals);

// Per axis and goal: share, factor, and the level with the least value. Axes are sorted by their largest share.
std::string sensitivity_table(const std::vector<Effect>& effects, const std::vector<Goal>& goals);
std::string sensitivity_csv(const std::vector<Effect>& effects, const std::vector<Goal>& goals);
// One panel per axis and goal: means and the range of the rows.
std::string sensitivity_svg(const std::vector<Effect>& effects, const std::vector<Goal>& goals);

// Comparison of two dataflows on equal machines and layers: where the first wins and where it loses.

struct Pair {
  std::size_t first = 0, second = 0;  // rows
  double gain = 0;                    // cost of the second / cost of the first
};

struct Versus {
  std::string first, second;  // dataflows
  std::vector<Pair> pairs;    // rows that differ only in the dataflow; by gain, ascending
};
// Compares by `goal`, which must be positive. Throws ConfigError: not two names, one without rows, or no pair.
Versus versus_of(const Selection& selection, const std::string& names, const Goal& goal);

// Win rate by the combined MAC and VEC utilisation of the second's run, and the lost pairs. Each of these has its
// settings, the busiest resource of the first's run, and the DRAM traffic of both.
std::string versus_text(const Selection& selection, const Versus& versus, const Goal& goal, std::size_t most_rows,
                        std::size_t line_width = text::kUnlimited);

// Self-contained HTML page of a sweep in the style of the report page. It has a plot of all jobs, a table and the
// effects of each axis, with linked selection. A click on a job shows its settings, its results and the command that
// repeats it.

struct Page {
  std::string title;
  std::string versus;  // text; empty: not requested
};
std::string page_html(const Page& page, const Selection& selection, const Front& front,
                      const std::vector<Effect>& effects);

}  // namespace attnvp::explore
