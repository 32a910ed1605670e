// What each axis of a sweep does to each objective.
#pragma once

#include <string>
#include <vector>

#include "explore/analysis/selection.h"

namespace attnvp::explore {

struct Level {  // one value of an axis, or one of some equal parts of its values
  std::string text;
  std::size_t rows = 0;
  double mean = 0;  // geometric; arithmetic where a value is not above 0
  double least = 0, most = 0;
};

struct Effect {
  std::size_t axis = 0;  // column
  std::size_t goal = 0;
  std::vector<Level> levels;
  std::vector<std::size_t> level_of;  // each row of the selection
  double share = 0;   // of the variance of the objective's logarithm, what the means of the levels explain (eta^2)
  double factor = 1;  // largest mean over smallest
};

// For each axis all goals. Axes with more than 12 values are cut into 8 parts of equal numbers of rows.
std::vector<Effect> sensitivity_of(const Selection& selection, const std::vector<Goal>& goals);

// Per axis and goal: share, factor, and where it is least. Axes by their largest share.
std::string sensitivity_table(const std::vector<Effect>& effects, const std::vector<Goal>& goals);
std::string sensitivity_csv(const std::vector<Effect>& effects, const std::vector<Goal>& goals);
// A panel per axis and goal: means, and the range of the rows behind them.
std::string sensitivity_svg(const std::vector<Effect>& effects, const std::vector<Goal>& goals);

}  // namespace attnvp::explore
