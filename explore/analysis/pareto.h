// Fronts: the rows that no other row beats.
#pragma once

#include <string>
#include <vector>

#include "explore/analysis/selection.h"

namespace attnvp::explore {

// Positions of the rows that no other row equals or betters in every goal and betters in one; rows with equal values
// are all in. By the first goal, then the second, ..., then key. `costs`: rows by goals, less is better.
std::vector<std::size_t> pareto_front(const std::vector<std::vector<double>>& costs);

struct Front {
  std::vector<Goal> goals;
  std::vector<std::vector<double>> costs;  // per row of the selection
  std::vector<std::size_t> rows;           // on the front
};
// Rows without a number for a goal are on no front. Throws ConfigError when the rows are of different layers.
Front front_of(const Selection& selection, std::vector<Goal> goals, const std::string& database);

// The job of the least second goal whose first one is within `percent` of the best, with its settings and command.
// Where several are equal in both: the first of the selection.
std::string within_text(const Selection& selection, const Front& front, double percent);

std::string front_table(const Selection& selection, const Front& front, std::size_t most_rows);
std::string front_csv(const Selection& selection, const Front& front);
// All rows as dots, coloured by dataflow, the front as a line and ringed; with a third goal the front's colour is that.
std::string front_svg(const Selection& selection, const Front& front, const std::string& title);

}  // namespace attnvp::explore
