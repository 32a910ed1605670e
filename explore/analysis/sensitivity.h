// Sensitivity analysis: effect of each axis of a sweep on each goal.
#pragma once

#include <string>
#include <vector>

#include "explore/analysis/selection.h"

namespace attnvp::explore {

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

}  // namespace attnvp::explore
