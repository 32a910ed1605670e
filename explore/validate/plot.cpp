#include "explore/validate/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "explore/plot/svg.h"

namespace attnvp::validate {

namespace {

constexpr double kSize = 480, kLeft = 80, kTop = 24, kRight = 464, kBottom = 424;
constexpr double kBand = 1.10;  // the dashed lines: 10% to either side

std::string plot_of(const std::string& unit, const std::vector<std::pair<double, double>>& points) {
  std::vector<double> values;
  for (const auto& [measured, predicted] : points) {
    values.push_back(measured);
    values.push_back(std::max(predicted, measured / 1000));  // what is 0 stands at the edge
  }
  plot::Scale x = plot::scale_of(values, kLeft, kRight);
  if (!x.logarithmic) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    x = {*low / kBand, *high * kBand, kLeft, kRight, true};
  }
  plot::Scale y = x;
  y.pixel_from = kBottom, y.pixel_to = kTop;
  const auto number = [](double value) { return fmt::format("{:g}", value); };
  std::string out = plot::open_svg(kSize, kSize);
  out += plot::axes({kLeft, kRight, kTop, kBottom}, x, y, number, number, "measured, " + unit, "predicted, " + unit);
  out += plot::line(x(x.from), y(x.from), x(x.to), y(x.to), "stroke=\"#888\"");
  const char* const dashed = "stroke=\"#bbb\" stroke-dasharray=\"4 4\"";
  out += plot::line(x(x.from), y(x.from * kBand), x(x.to / kBand), y(x.to), dashed);
  out += plot::line(x(x.from * kBand), y(x.from), x(x.to), y(x.to / kBand), dashed);
  std::vector<std::pair<double, double>> places;
  for (std::size_t i = 0; i < points.size(); ++i) places.emplace_back(x(values[2 * i]), y(values[2 * i + 1]));
  return out + plot::dots(places, 6, plot::color(0)) + "</svg>\n";
}

}  // namespace

std::string plots(const Result& result) {
  std::map<std::string, std::vector<std::pair<double, double>>> by_unit;
  for (const Point& p : result.points) by_unit[p.unit].emplace_back(p.measured, p.predicted);
  std::string out;
  for (const auto& [unit, points] : by_unit) out += plot_of(unit, points);
  return out;
}

}  // namespace attnvp::validate
