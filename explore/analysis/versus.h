// Two dataflows on equal machines and layers: where the first wins, and where it does not.
#pragma once

#include <string>
#include <vector>

#include "explore/analysis/selection.h"
#include "platform/text/line_width.h"

namespace attnvp::explore {

struct Pair {
  std::size_t first = 0, second = 0;  // rows
  double gain = 0;                    // cost of the second / cost of the first
};

struct Versus {
  std::string first, second;  // dataflows
  std::vector<Pair> pairs;    // that differ in nothing but the dataflow; by gain, the least first
};
// In `goal`, which must be above 0. Throws ConfigError: not two names, one that no row has, no pair.
Versus versus_of(const Selection& selection, const std::string& names, const Goal& goal);

// How often the first wins, by how busy the second's run keeps MAC and VEC together, and the pairs that it loses: their
// settings, which resource is busiest in the first's run, and its DRAM traffic beside the second's.
std::string versus_text(const Selection& selection, const Versus& versus, const Goal& goal, std::size_t most_rows,
                        std::size_t line_width = text::kUnlimited);

}  // namespace attnvp::explore
