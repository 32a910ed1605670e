// Measurements of `attnvp bench`, and comparison with another build.
#pragma once

#include <string>
#include <vector>

namespace attnvp::cli {

struct BenchFigure {
  std::string label;
  double seconds = 0;  // 0: not a time
  std::string time;    // as shown, or a text in its place
  std::string rate;
};
using Figures = std::vector<BenchFigure>;

// Parses a table printed by `bench`.
Figures parse_figures(const std::string& table);
// The better of each pair of figures.
Figures better(const Figures& a, const Figures& b);

}  // namespace attnvp::cli
