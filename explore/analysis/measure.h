// Axis titles and units for the values of a goal.
#pragma once

#include <string>
#include <vector>

#include "explore/analysis/selection.h"

namespace attnvp::explore {

// "energy_pj.total" to "Energy", "l1.size" to "L1 size"; other names are returned unchanged.
std::string words_of(const std::string& column);

struct Measure {
  std::string words, unit;  // unit: "mJ", "KiB", "millions"; empty: none
  double scale = 1;         // factor from values to that unit

  std::string title() const { return unit.empty() ? words : words + " (" + unit + ")"; }
  std::string tick(double value) const;
};
Measure measure_of(const Goal& goal, const std::vector<double>& values);

}  // namespace attnvp::explore
