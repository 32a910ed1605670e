// Pareto front of a sweep's rows.
#pragma once

#include <string>
#include <vector>

#include "explore/analysis/selection.h"

namespace attnvp::explore {

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

}  // namespace attnvp::explore
