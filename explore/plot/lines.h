// Line plots with a legend.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "explore/plot/svg.h"

namespace attnvp::plot {

struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;  // left to right
};

// A vertical line at x, `text` at its top; or, with `to` beyond x, a grey band.
struct Mark {
  double x = 0;
  std::string text;
  double to = 0;
};

struct LinePlot {
  std::string title, x_title, y_title;
  std::vector<Series> series;
  std::vector<Mark> marks;
};

// A complete SVG file. An axis is logarithmic where its values span much (see scale_of).
std::string to_svg(const LinePlot& plot);

}  // namespace attnvp::plot
