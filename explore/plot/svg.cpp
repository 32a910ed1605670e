#include "explore/plot/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "platform/text/printable.h"

namespace attnvp::plot {

double Scale::operator()(double value) const {
  const double share = logarithmic ? std::log(value / from) / std::log(to / from) : (value - from) / (to - from);
  return pixel_from + share * (pixel_to - pixel_from);
}

double tick_step(double range, int count) {
  const double raw = range / count;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

std::vector<double> Scale::ticks(int about) const {
  std::vector<double> values;
  if (!logarithmic) {
    const double step = tick_step(to - from, about);
    const auto last = static_cast<std::int64_t>(std::floor(to / step));
    for (auto i = static_cast<std::int64_t>(std::ceil(from / step)); i <= last; ++i) {
      values.push_back(static_cast<double>(i) * step);
    }
    return values;
  }
  const bool few = std::log10(to / from) > 2.5;
  const auto last = static_cast<int>(std::floor(std::log10(to)));
  for (int exponent = static_cast<int>(std::floor(std::log10(from))); exponent <= last; ++exponent) {
    for (const double factor : few ? std::vector<double>{1.0} : std::vector<double>{1.0, 2.0, 5.0}) {
      const double value = factor * std::pow(10, exponent);
      if (value >= from && value <= to) values.push_back(value);
    }
  }
  return values;
}

Scale scale_of(const std::vector<double>& values, double pixel_from, double pixel_to) {
  double low = 0, high = 0;
  if (!values.empty()) {
    low = *std::min_element(values.begin(), values.end());
    high = *std::max_element(values.begin(), values.end());
  }
  Scale scale{low, high, pixel_from, pixel_to, low > 0 && high > 8 * low};
  if (scale.logarithmic) {
    const double room = std::pow(high / low, 0.05);
    scale.from /= room;
    scale.to *= room;
  } else {
    const double room = high > low ? 0.05 * (high - low) : std::max(std::abs(high) * 0.05, 1e-9);
    scale.from -= room;
    scale.to += room;
  }
  return scale;
}

std::string label(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     text::escaped_for_html(text));
}

std::string line(double x1, double y1, double x2, double y2, const char* style) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1, x2, y2, style);
}

std::string dots(const std::vector<std::pair<double, double>>& places, double diameter, const std::string& color) {
  std::vector<std::string> parts;
  parts.reserve(places.size());
  for (const auto& [x, y] : places) parts.push_back(fmt::format("M{:.1f} {:.1f}h0", x, y));
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  return fmt::format("<path d=\"{}\" stroke=\"{}\" stroke-width=\"{}\" stroke-linecap=\"round\"/>\n",
                     fmt::join(parts, ""), color, diameter);
}

std::string open_svg(double width, double height, const std::string& attributes) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\"{2}{3}>\n<rect width=\"{0}\" height=\"{1}\" "
      "fill=\"#fff\"/>\n",
      width, height, attributes.empty() ? "" : " ", attributes);
}

std::string axes(const Frame& f, const Scale& x, const Scale& y, const TickText& x_text, const TickText& y_text,
                 const std::string& x_title, const std::string& y_title) {
  std::string out;
  for (const double v : y.ticks()) {
    out += line(f.left, y(v), f.right, y(v), "stroke=\"#ddd\"");
    out += label(f.left - 8, y(v) + 4, "end", y_text(v));
  }
  for (const double v : x.ticks()) {
    out += line(x(v), f.bottom, x(v), f.bottom + 5, "stroke=\"#222\"");
    out += label(x(v), f.bottom + 19, "middle", x_text(v));
  }
  out += line(f.left, f.bottom, f.right, f.bottom, "stroke=\"#222\"");
  out += line(f.left, f.top, f.left, f.bottom, "stroke=\"#222\"");
  out += label((f.left + f.right) / 2, f.bottom + 42, "middle", x_title);
  return out + fmt::format("<text transform=\"translate(18 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                           (f.top + f.bottom) / 2, text::escaped_for_html(y_title));
}

const char* color(std::size_t i) {  // Okabe and Ito's
  static const char* const kColors[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                        "#e69f00", "#56b4e9", "#8c6d31", "#555555"};
  return kColors[i % std::size(kColors)];
}

std::string shade(double share) {
  const auto mix = [&](int light, int dark) { return static_cast<int>(std::lround(light + share * (dark - light))); };
  return fmt::format("#{:02x}{:02x}{:02x}", mix(0xfd, 0x2b), mix(0xd4, 0x08), mix(0x9e, 0x4a));
}

}  // namespace attnvp::plot
