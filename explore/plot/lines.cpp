#include "explore/plot/lines.h"

#include <fmt/format.h>

namespace attnvp::plot {

namespace {

constexpr double kWidth = 760, kHeight = 420, kLegend = 18;

std::string tick_text(double value) {
  if (value >= 1e6) return fmt::format("{:g}M", value / 1e6);
  if (value >= 1e4) return fmt::format("{:g}k", value / 1e3);
  return fmt::format("{:g}", value);
}

}  // namespace

std::string to_svg(const LinePlot& plot) {
  const Frame frame{80, kWidth - 24, 48 + kLegend, kHeight - 60};
  std::vector<double> xs, ys;
  for (const Series& series : plot.series) {
    for (const auto& [x, y] : series.points) {
      xs.push_back(x);
      ys.push_back(y);
    }
  }
  for (const Mark& mark : plot.marks) xs.push_back(mark.x);
  const Scale x = scale_of(xs, frame.left, frame.right), y = scale_of(ys, frame.bottom, frame.top);

  std::string out = open_svg(kWidth, kHeight);
  out += "<g font-size=\"14\" font-weight=\"bold\">" + label(kWidth / 2, 22, "middle", plot.title) + "</g>\n";
  for (const Mark& mark : plot.marks) {
    if (mark.to <= mark.x) continue;
    out += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"#eee\"/>\n",
                       x(mark.x), frame.top, x(mark.to) - x(mark.x), frame.bottom - frame.top);
  }
  out += axes(frame, x, y, tick_text, tick_text, plot.x_title, plot.y_title);
  for (const Mark& mark : plot.marks) {
    if (mark.to <= mark.x) {
      out += line(x(mark.x), frame.top, x(mark.x), frame.bottom, "stroke=\"#555\" stroke-dasharray=\"5 4\"");
    }
    out += "<g fill=\"#555\">" + label(x(mark.x) + 5, frame.top + 12, "start", mark.text) + "</g>\n";
  }
  double legend = frame.left;
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const Series& series = plot.series[i];
    std::string path;
    std::vector<std::pair<double, double>> places;
    for (const auto& [px, py] : series.points) {
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : " L", x(px), y(py));
      places.emplace_back(x(px), y(py));
    }
    out += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", path, color(i));
    out += dots(places, 6, color(i));
    out += line(legend, 41, legend + 22, 41, fmt::format("stroke=\"{}\" stroke-width=\"3\"", color(i)).c_str());
    out += label(legend + 28, 45, "start", series.name);
    legend += 52 + 7 * static_cast<double>(series.name.size());
  }
  return out + "</svg>\n";
}

}  // namespace attnvp::plot
