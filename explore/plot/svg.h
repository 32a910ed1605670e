// Plots as SVG text: the parts of which they are drawn (scales with ticks, lines, labels, axes), line plots with a
// legend, and treemaps: rectangles whose areas are shares, nested, each as square as can be (Bruls, Huizing and van
// Wijk).
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace attnvp::plot {

// A value's place in pixels.
struct Scale {
  double from = 0, to = 1, pixel_from = 0, pixel_to = 1;
  bool logarithmic = false;
  double operator()(double value) const;
  std::vector<double> ticks(int about = 5) const;  // round numbers within
};
// Around the values with some room; logarithmic where they span more than a factor of 8.
Scale scale_of(const std::vector<double>& values, double pixel_from, double pixel_to);

// 1, 2 or 5 times a power of ten, so that about `count` steps cover the range.
double tick_step(double range, int count = 5);

// anchor: start, middle, end.
std::string label(double x, double y, const char* anchor, const std::string& text);
std::string line(double x1, double y1, double x2, double y2, const char* style);
// One dot per place, as one path: small files.
std::string dots(const std::vector<std::pair<double, double>>& places, double diameter, const std::string& color);

// "<svg ...>" with a white ground; close with "</svg>\n".
std::string open_svg(double width, double height, const std::string& attributes = "");

struct Frame {
  double left, right, top, bottom;  // pixels
};
using TickText = std::function<std::string(double)>;
// Grid, axes, tick labels and titles.
std::string axes(const Frame& frame, const Scale& x, const Scale& y, const TickText& x_text, const TickText& y_text,
                 const std::string& x_title, const std::string& y_title);

// Colours that differ for readers who see no red or no green; in turn for i >= 8.
const char* color(std::size_t i);
// 0 to 1, light to dark.
std::string shade(double share);

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

struct TreeNode {
  std::string name;
  double size = 0;              // of one without parts; with parts, theirs together
  std::size_t color = 0;        // of one without parts
  std::vector<TreeNode> parts;  // shown inside
  double total() const;
};

// SVG elements; a title on each rectangle has its name and size in `unit`.
std::string treemap(const TreeNode& root, double width, double height, const std::string& unit);

}  // namespace attnvp::plot
