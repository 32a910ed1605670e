// Comparison of two dataflows on equal machines and layers: where the first wins and where it loses.
#pragma once

#include <string>
#include <vector>

#include "explore/analysis/selection.h"
#include "platform/base/text.h"

namespace attnvp::explore {

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

}  // namespace attnvp::explore
