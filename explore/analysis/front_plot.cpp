#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "explore/analysis/measure.h"
#include "explore/analysis/pareto.h"
#include "explore/plot/svg.h"
#include "platform/text/printable.h"

namespace attnvp::explore {

namespace {

constexpr double kWidth = 760, kHeight = 480;
constexpr plot::Frame kFrame{96, 590, 44, 424};
constexpr double kLegend = 612;
constexpr double kDot = 3.6, kRing = 4.2;

std::string legend_entry(std::size_t line, const std::string& color, const std::string& text) {
  const double y = kFrame.top + 14 + 20 * static_cast<double>(line);
  return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\" fill=\"{}\"/>\n", kLegend, y - 4, color) +
         plot::label(kLegend + 12, y, "start", text);
}

}  // namespace

std::string front_svg(const Selection& s, const Front& front, const std::string& title) {
  const Goal& gx = front.goals[0];
  const Goal& gy = front.goals[1];
  const std::size_t dataflow = column_index("dataflow");
  std::vector<double> xs, ys;
  std::vector<std::string> dataflows;
  for (const Row& row : s.rows()) {
    xs.push_back(gx.value(row));
    ys.push_back(gy.value(row));
    const std::string name = s.text(row, dataflow);
    if (std::find(dataflows.begin(), dataflows.end(), name) == dataflows.end()) dataflows.push_back(name);
  }
  std::sort(dataflows.begin(), dataflows.end());
  const plot::Scale x = plot::scale_of(xs, kFrame.left, kFrame.right),
                    y = plot::scale_of(ys, kFrame.bottom, kFrame.top);
  const Measure mx = measure_of(gx, xs), my = measure_of(gy, ys);

  std::string out = plot::open_svg(kWidth, kHeight);
  out += "<g font-size=\"14\" font-weight=\"bold\">" + plot::label(kWidth / 2, 22, "middle", title) + "</g>\n";
  out += plot::axes(
      kFrame, x, y, [&](double v) { return mx.tick(v); }, [&](double v) { return my.tick(v); }, mx.title(), my.title());
  for (std::size_t d = 0; d < dataflows.size(); ++d) {
    std::vector<std::pair<double, double>> places;
    for (std::size_t i = 0; i < s.rows().size(); ++i) {
      if (s.text(s.rows()[i], dataflow) == dataflows[d]) places.emplace_back(x(xs[i]), y(ys[i]));
    }
    out += "<g opacity=\"0.35\">" + plot::dots(places, kDot, plot::color(d)) + "</g>\n";
    out += legend_entry(d, plot::color(d), dataflows[d]);
  }

  const bool third = front.goals.size() > 2;
  double low = 0, high = 0;
  if (third) {
    std::vector<double> zs;
    for (const std::size_t i : front.rows) zs.push_back(front.goals[2].value(s.rows()[i]));
    low = *std::min_element(zs.begin(), zs.end());
    high = *std::max_element(zs.begin(), zs.end());
    const std::size_t at = dataflows.size() + 1;
    out += plot::label(kLegend - 5, kFrame.top + 14 + 20 * static_cast<double>(at), "start",
                       words_of(front.goals[2].name()));
    out += legend_entry(at + 1, plot::shade(0), front.goals[2].shown(low));
    out += legend_entry(at + 2, plot::shade(1), front.goals[2].shown(high));
  } else {  // what a point of the front rules out begins at its corner
    std::string path;
    for (const std::size_t i : front.rows) {
      path += path.empty() ? fmt::format("M{:.1f} {:.1f}", x(xs[i]), y(ys[i]))
                           : fmt::format("H{:.1f}V{:.1f}", x(xs[i]), y(ys[i]));
    }
    out += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"#222\" stroke-width=\"1.2\"/>\n", path);
  }
  for (const std::size_t i : front.rows) {
    const Row& row = s.rows()[i];
    const auto d = std::find(dataflows.begin(), dataflows.end(), s.text(row, dataflow)) - dataflows.begin();
    const double z = third ? front.goals[2].value(row) : 0;
    const std::string fill = third ? plot::shade(high > low ? (z - low) / (high - low) : 0)
                                   : std::string(plot::color(static_cast<std::size_t>(d)));
    out += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"{}\" stroke=\"#222\"><title>{}</title></circle>\n",
        x(xs[i]), y(ys[i]), kRing, fill, text::escaped_for_html(s.settings(row)));
  }
  out += plot::label(kLegend - 5, kFrame.bottom, "start",
                     fmt::format("{} of {} jobs", front.rows.size(), s.rows().size()));
  return out + "</svg>\n";
}

}  // namespace attnvp::explore
