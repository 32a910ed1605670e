// What `attnvp bench` measures, and the same of another build.
#pragma once

#include <string>
#include <vector>

namespace attnvp::cli {

struct Figure {
  std::string label;
  double seconds = 0;  // 0: not a time
  std::string time;    // as shown, or what stands in its place
  std::string rate;
};
using Figures = std::vector<Figure>;

// A table that `bench` has printed.
Figures parse_figures(const std::string& table);
// Of every figure the better one.
Figures better(const Figures& a, const Figures& b);

}  // namespace attnvp::cli
