#include "explore/plot/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "platform/base/text.h"

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
    const double margin = std::pow(high / low, 0.05);
    scale.from /= margin;
    scale.to *= margin;
  } else {
    const double margin = high > low ? 0.05 * (high - low) : std::max(std::abs(high) * 0.05, 1e-9);
    scale.from -= margin;
    scale.to += margin;
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

const char* color(std::size_t i) {  // palette of Okabe and Ito
  static const char* const kColors[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                        "#e69f00", "#56b4e9", "#8c6d31", "#555555"};
  return kColors[i % std::size(kColors)];
}

std::string shade(double share) {
  const auto mix = [&](int light, int dark) { return static_cast<int>(std::lround(light + share * (dark - light))); };
  return fmt::format("#{:02x}{:02x}{:02x}", mix(0xfd, 0x2b), mix(0xd4, 0x08), mix(0x9e, 0x4a));
}

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
  for (const PlotMark& mark : plot.marks) xs.push_back(mark.x);
  const Scale x = scale_of(xs, frame.left, frame.right), y = scale_of(ys, frame.bottom, frame.top);

  std::string out = open_svg(kWidth, kHeight);
  out += "<g font-size=\"14\" font-weight=\"bold\">" + label(kWidth / 2, 22, "middle", plot.title) + "</g>\n";
  for (const PlotMark& mark : plot.marks) {
    if (mark.to <= mark.x) continue;
    out += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"#eee\"/>\n",
                       x(mark.x), frame.top, x(mark.to) - x(mark.x), frame.bottom - frame.top);
  }
  out += axes(frame, x, y, tick_text, tick_text, plot.x_title, plot.y_title);
  for (const PlotMark& mark : plot.marks) {
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

namespace {

struct Box {
  double x, y, width, height;
};

constexpr double kBorder = 2, kTitle = 14;  // around and above nested rectangles
constexpr double kLetter = 7, kLine = 14;   // of a label

// Worst aspect ratio in a row of `sizes` along a side of length `side`.
double worst(const std::vector<double>& sizes, double side) {
  double sum = 0, most = 0, least = sizes.front();
  for (const double size : sizes) sum += size, most = std::max(most, size), least = std::min(least, size);
  return std::max(side * side * most / (sum * sum), sum * sum / (side * side * least));
}

class Drawing {
 public:
  explicit Drawing(std::string unit) : unit_(std::move(unit)) {}

  void draw(const TreeNode& node, const Box& box, const std::string& path) {
    if (box.width < 0.5 || box.height < 0.5) return;
    const std::string name = path.empty() ? node.name : path + "." + node.name;
    const bool leaf = node.parts.empty();
    out_ += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\" stroke=\"#fff\"><title>{}: "
        "{:.3g} {}</title></rect>\n",
        box.x, box.y, box.width, box.height, leaf ? color(node.color) : "#ddd", text::escaped_for_html(name),
        node.total(), unit_);
    const bool named = box.height > kLine && box.width > kLetter * static_cast<double>(node.name.size());
    if (named) out_ += label(box.x + 3, box.y + kLine - 3, "start", text::escaped_for_html(node.name));
    if (leaf) return;
    const double top = named ? kTitle : kBorder;
    inside(node, {box.x + kBorder, box.y + top, box.width - 2 * kBorder, box.height - top - kBorder}, name);
  }
  const std::string& text() const { return out_; }

 private:
  void inside(const TreeNode& node, Box box, const std::string& name) {
    std::vector<const TreeNode*> parts;
    for (const TreeNode& part : node.parts) {
      if (part.total() > 0) parts.push_back(&part);
    }
    std::stable_sort(parts.begin(), parts.end(),
                     [](const TreeNode* a, const TreeNode* b) { return a->total() > b->total(); });
    double left = node.total();
    for (std::size_t first = 0; first < parts.size() && box.width > 0 && box.height > 0;) {
      const double scale = box.width * box.height / left;
      const double side = std::min(box.width, box.height);
      std::vector<double> row = {parts[first]->total() * scale};
      std::size_t end = first + 1;
      for (; end < parts.size(); ++end) {
        std::vector<double> longer = row;
        longer.push_back(parts[end]->total() * scale);
        if (worst(longer, side) > worst(row, side)) break;
        row = longer;
      }
      double sum = 0;
      for (const double size : row) sum += size;
      const double depth = sum / side;
      double along = 0;
      for (std::size_t i = first; i < end; ++i) {
        const double length = row[i - first] / depth;
        draw(*parts[i],
             box.width >= box.height ? Box{box.x, box.y + along, depth, length}
                                     : Box{box.x + along, box.y, length, depth},
             name);
        along += length;
        left -= parts[i]->total();
      }
      if (box.width >= box.height) {
        box.x += depth, box.width -= depth;
      } else {
        box.y += depth, box.height -= depth;
      }
      first = end;
    }
  }

  std::string unit_, out_;
};

}  // namespace

double TreeNode::total() const {
  if (parts.empty()) return size;
  double sum = 0;
  for (const TreeNode& part : parts) sum += part.total();
  return sum;
}

std::string treemap(const TreeNode& root, double width, double height, const std::string& unit) {
  Drawing drawing(unit);
  drawing.draw(root, {0, 0, width, height}, "");
  return drawing.text();
}

}  // namespace attnvp::plot
