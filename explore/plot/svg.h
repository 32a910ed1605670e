// Plots as SVG text: scales with ticks, lines, labels and axes, line plots with a legend, and squarified treemaps
// (Bruls, Huizing and van Wijk). Coordinates are in pixels.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace attnvp::plot {

// Mapping of values to pixels.
struct Scale {
  double from = 0, to = 1, pixel_from = 0, pixel_to = 1;
  bool logarithmic = false;
  double operator()(double value) const;
  std::vector<double> ticks(int about = 5) const;  // round numbers in the range
};
// Range of the values with margins; logarithmic if they span more than a factor of 8.
Scale scale_of(const std::vector<double>& values, double pixel_from, double pixel_to);

// 1, 2 or 5 times a power of ten; about `count` steps cover the range.
double tick_step(double range, int count = 5);

// anchor: start, middle, end.
std::string label(double x, double y, const char* anchor, const std::string& text);
std::string line(double x1, double y1, double x2, double y2, const char* style);
// All dots in one path, to reduce the file size.
std::string dots(const std::vector<std::pair<double, double>>& places, double diameter, const std::string& color);

// "<svg ...>" with a white background; close with "</svg>\n".
std::string open_svg(double width, double height, const std::string& attributes = "");

struct Frame {
  double left, right, top, bottom;  // pixels
};
using TickText = std::function<std::string(double)>;
// Grid, axes, tick labels and titles.
std::string axes(const Frame& frame, const Scale& x, const Scale& y, const TickText& x_text, const TickText& y_text,
                 const std::string& x_title, const std::string& y_title);

// Colours for colour-blind readers; repeated for i >= 8.
const char* color(std::size_t i);
// 0 to 1, light to dark.
std::string shade(double share);

struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;  // left to right
};

// Vertical line at x with `text` at its top; a grey band if `to` > x.
struct PlotMark {
  double x = 0;
  std::string text;
  double to = 0;
};

struct LinePlot {
  std::string title, x_title, y_title;
  std::vector<Series> series;
  std::vector<PlotMark> marks;
};

// A complete SVG file. Axes with a large range are logarithmic (scale_of).
std::string to_svg(const LinePlot& plot);

struct TreeNode {
  std::string name;
  double size = 0;              // of a leaf; other nodes have the total of their parts
  std::size_t color = 0;        // of a leaf
  std::vector<TreeNode> parts;  // shown inside
  double total() const;
};

// SVG elements; the title of each rectangle has its name and its size in `unit`.
std::string treemap(const TreeNode& root, double width, double height, const std::string& unit);

}  // namespace attnvp::plot
