// The points of a sweep's axes, in a fixed order.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "explore/sweep/sweep_file.h"

namespace attnvp::explore {

// One text per key of every axis, in the file's order.
using SweepPoint = std::vector<std::string>;

// Calls `accept` for every point of the grid, or for samples until `samples` of them were accepted (random) or tried
// (Latin hypercube: each axis is cut into as many strata as there are samples, and every stratum is used once).
// No point comes twice but in a grid, which has none twice. Random gives up after 100 tries per sample, or when it
// finds nothing new. The sequence depends on the axes, samples and seed alone.
void for_each_point(const SweepFile& sweep, const std::function<bool(const SweepPoint&)>& accept);

// How many points a grid has; at most 2^63 is told apart.
double grid_size(const std::vector<Axis>& axes);

}  // namespace attnvp::explore
