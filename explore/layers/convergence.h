// Convergence of a search: cost and best cost of every simulation, as a table and a plot.
#pragma once

#include <string>

#include "explore/tuning/tuner.h"

namespace attnvp::explore {

// "evaluation,cost,best,bb,hh,...": one line per simulation, from 1. The cost is empty if firmware refused the tiling.
std::string convergence_csv(const TuningResult& result);

// Complete SVG file: best cost over simulations as a line, simulations near it as dots, and the lower bound. `title` is
// plain text.
std::string convergence_svg(const TuningResult& result, Objective objective, const std::string& title);

}  // namespace attnvp::explore
