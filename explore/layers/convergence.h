// Results of the tuner for a reader: gains of a chosen dataflow, and the convergence of a search, which is the cost and
// the best cost of every simulation, as a table and a plot.
#pragma once

#include <string>

#include "explore/tuning/tuner.h"

namespace attnvp::explore {

// One sentence: gains of the chosen dataflow over the others, and its distance from the bound.
std::string gains_text(const Portfolio& portfolio);

// "evaluation,cost,best,bb,hh,...": one line per simulation, from 1. The cost is empty if firmware refused the tiling.
std::string convergence_csv(const TuningResult& result);

// Complete SVG file: best cost over simulations as a line, simulations near it as dots, and the lower bound. `title` is
// plain text.
std::string convergence_svg(const TuningResult& result, Objective objective, const std::string& title);

}  // namespace attnvp::explore
