#include "explore/search/convergence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace attnvp::explore {

namespace {

constexpr double kWidth = 760, kHeight = 420, kLeft = 110, kRight = 20, kTop = 48, kBottom = 56;
constexpr double kShownAbove = 0.10;  // of the best: dots further up are left out, the line is cut off
constexpr int kTicks = 5;

// 1, 2 or 5 times a power of ten, so that about kTicks steps cover the range.
double tick_step(double range) {
  const double raw = range / kTicks;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

struct Axis {
  double from, to, pixel_from, pixel_to;
  double operator()(double value) const { return pixel_from + (value - from) / (to - from) * (pixel_to - pixel_from); }
};

std::string label(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, escaped(text));
}

std::string line(double x1, double y1, double x2, double y2, const char* style) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1, x2, y2, style);
}

// Enough digits that neighbouring ticks differ.
std::string tick_text(double value, double step) {
  const int digits = std::clamp(static_cast<int>(std::ceil(std::log10(std::abs(value) / step + 1))) + 1, 3, 12);
  if (std::abs(value) >= 1 && step >= 1 && std::abs(value) < 1e9) return fmt::format("{:.0f}", value);
  return fmt::format("{:.{}g}", value, digits);
}

}  // namespace

std::string convergence_csv(const SearchResult& r) {
  std::string out = "evaluation,cost,best";
  hal::Tiling all{};
  for (const Evaluation& e : r.log) all.np = std::max(all.np, e.tiling.np);
  for (const auto& [key, value] : job::tiling_text(all)) out += "," + key;
  out += "\n";
  const auto number = [](double v) { return std::isfinite(v) ? fmt::format("{:.17g}", v) : std::string(); };
  for (std::size_t i = 0; i < r.log.size(); ++i) {
    out += fmt::format("{},{},{}", i + 1, number(r.log[i].cost), number(r.log[i].best));
    for (const auto& [key, value] : job::tiling_text(r.log[i].tiling)) out += "," + value;
    if (all.np > 0 && r.log[i].tiling.np == 0) out += ",0";
    out += "\n";
  }
  return out;
}

std::string convergence_svg(const SearchResult& r, Objective objective, const std::string& title) {
  const double low = std::min(r.bound, r.cost);
  const double top = r.cost * (1 + kShownAbove);
  double highest = r.cost;
  for (const Evaluation& e : r.log) {
    if (std::isfinite(e.cost)) highest = std::max(highest, std::min(e.cost, top));
  }
  const double margin = std::max((highest - low) * 0.06, r.cost * 1e-6);
  const auto count = static_cast<double>(std::max<std::size_t>(r.log.size(), 2));
  const Axis x{1, count, kLeft, kWidth - kRight};
  const Axis y{low - margin, highest + margin, kHeight - kBottom, kTop};

  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n<rect width=\"{0}\" height=\"{1}\" "
      "fill=\"#fff\"/>\n",
      kWidth, kHeight);
  out += "<g font-size=\"14\" font-weight=\"bold\">" + label(kWidth / 2, 22, "middle", title) + "</g>\n";
  const double y_step = tick_step(y.to - y.from);
  for (double v = std::ceil(y.from / y_step) * y_step; v <= y.to; v += y_step) {
    out += line(kLeft, y(v), kWidth - kRight, y(v), "stroke=\"#ddd\"");
    out += label(kLeft - 8, y(v) + 4, "end", tick_text(v, y_step));
  }
  const double x_step = std::max(1.0, tick_step(x.to - x.from));
  for (double v = x_step; v <= x.to; v += x_step) {
    out += line(x(v), kHeight - kBottom, x(v), kHeight - kBottom + 5, "stroke=\"#222\"");
    out += label(x(v), kHeight - kBottom + 19, "middle", fmt::format("{:.0f}", v));
  }
  out += line(kLeft, kHeight - kBottom, kWidth - kRight, kHeight - kBottom, "stroke=\"#222\"");
  out += line(kLeft, kTop, kLeft, kHeight - kBottom, "stroke=\"#222\"");
  out += label((kLeft + kWidth - kRight) / 2, kHeight - 14, "middle", "simulations");
  out += fmt::format("<text transform=\"translate(18 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                     (kTop + kHeight - kBottom) / 2,
                     objective == Objective::kCycles   ? "cycles"
                     : objective == Objective::kEnergy ? "energy [pJ]"
                                                       : "energy-delay product [J s]");

  out += "<g fill=\"#9bb8d3\">\n";
  std::string path;
  for (std::size_t i = 0; i < r.log.size(); ++i) {
    const auto at = static_cast<double>(i + 1);
    const Evaluation& e = r.log[i];
    if (e.cost <= highest) out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"1.8\"/>\n", x(at), y(e.cost));
    if (e.best > highest) continue;
    path += path.empty() ? fmt::format("M{:.1f} {:.1f}", x(at), y(e.best))
                         : fmt::format(" H{:.1f} V{:.1f}", x(at), y(e.best));
  }
  out += "</g>\n";
  out += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"#1b5e9b\" stroke-width=\"2\"/>\n", path);
  out += line(kLeft, y(r.bound), kWidth - kRight, y(r.bound), "stroke=\"#b03a2e\" stroke-dasharray=\"6 4\"");
  out += "<g fill=\"#b03a2e\">" + label(kWidth - kRight - 4, y(r.bound) - 5, "end", "lower bound") + "</g>\n";
  out += "<g fill=\"#1b5e9b\">" +
         label(kWidth - kRight - 4, y(r.cost) - 6, "end", fmt::format("best found, {:.2f}% above", 100 * r.gap())) +
         "</g>\n";
  return out + "</svg>\n";
}

}  // namespace attnvp::explore
