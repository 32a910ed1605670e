// How a search went: every simulation's cost and the best so far, as a table and as a picture.
#pragma once

#include <string>

#include "explore/tuning/tuner.h"

namespace attnvp::explore {

// "evaluation,cost,best,bb,hh,...": one line per simulation, from 1; a tiling that firmware refused has no cost.
std::string convergence_csv(const TuningResult& result);

// A line plot of the best so far over the simulations, the simulations as dots where they are near it, and the lower
// bound; a complete SVG file. `title` is plain text.
std::string convergence_svg(const TuningResult& result, Objective objective, const std::string& title);

}  // namespace attnvp::explore
