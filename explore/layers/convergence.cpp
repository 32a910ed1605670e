#include "explore/layers/convergence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "explore/plot/svg.h"

namespace attnvp::explore {

namespace {

using plot::label;
using plot::line;

constexpr double kWidth = 760, kHeight = 420, kLeft = 110, kRight = 20, kTop = 48, kBottom = 56;
constexpr double kShownAbove = 0.10;  // relative to the best cost: higher dots are omitted, and the line is cut off

// Uses enough digits to distinguish neighbouring ticks.
std::string tick_text(double value, double step) {
  const int digits = std::clamp(static_cast<int>(std::ceil(std::log10(std::abs(value) / step + 1))) + 1, 3, 12);
  if (std::abs(value) >= 1 && step >= 1 && std::abs(value) < 1e9) return fmt::format("{:.0f}", value);
  return fmt::format("{:.{}g}", value, digits);
}

}  // namespace

std::string gains_text(const Portfolio& portfolio) {
  const Evaluation& best = portfolio.best();
  std::string beaten, extrapolated;
  for (std::size_t i = 1; i < portfolio.candidates.size(); ++i) {
    const Evaluation& c = portfolio.candidates[i];
    std::string& list = c.is_whole == best.is_whole ? beaten : extrapolated;
    const double gain = 100 * (c.cycles / best.cycles - 1);
    list += fmt::format("{}{} by {:.1f}%", list.empty() ? "" : ", ", c.schedule.text, gain);
  }
  std::string text = best.schedule.text;
  if (!beaten.empty()) text += " beats " + beaten;
  if (!extrapolated.empty()) {
    text += fmt::format("{} by smaller jobs of the same kind {}", beaten.empty() ? " beats" : ", and", extrapolated);
  }
  if (beaten.empty() && extrapolated.empty() && portfolio.untried.empty()) text += " alone takes the job";
  if (!portfolio.untried.empty()) text += fmt::format("; not tried, as that is near the bound: {}", portfolio.untried);
  return fmt::format("{}; no schedule of this layer takes less than {:.1f}% of its time", text,
                     100 * portfolio.least_cycles / best.cycles);
}

std::string convergence_csv(const TuningResult& r) {
  std::string out = "evaluation,cost,best";
  const job::Tiling columns = r.log.empty() ? job::Tiling() : r.log.front().schedule.tiling;
  for (const auto& [name, value] : columns.entries()) out += "," + name;
  out += "\n";
  const auto number = [](double v) { return std::isfinite(v) ? fmt::format("{:.17g}", v) : std::string(); };
  double best = kNoLimit;
  for (std::size_t i = 0; i < r.log.size(); ++i) {
    const Evaluation& e = r.log[i];
    best = std::min(best, e.cost.first);
    out += fmt::format("{},{},{}", i + 1, number(e.cost.first), number(best));
    for (const auto& [name, value] : columns.entries()) out += "," + job::value_text(e.schedule.tiling, name);
    out += "\n";
  }
  return out;
}

std::string convergence_svg(const TuningResult& r, Objective objective, const std::string& title) {
  const double low = std::min(r.bound, r.best.cost.first);
  const double top = r.best.cost.first * (1 + kShownAbove);
  double highest = r.best.cost.first;
  for (const Evaluation& e : r.log) {
    if (e.cost.first < kNoLimit) highest = std::max(highest, std::min(e.cost.first, top));
  }
  const double margin = std::max((highest - low) * 0.06, r.best.cost.first * 1e-6);
  const auto count = static_cast<double>(std::max<std::size_t>(r.log.size(), 2));
  const plot::Scale x{1, count, kLeft, kWidth - kRight};
  const plot::Scale y{low - margin, highest + margin, kHeight - kBottom, kTop};

  std::string out = plot::open_svg(kWidth, kHeight);
  out += "<g font-size=\"14\" font-weight=\"bold\">" + label(kWidth / 2, 22, "middle", title) + "</g>\n";
  const double y_step = plot::tick_step(y.to - y.from);
  out += plot::axes(
      {kLeft, kWidth - kRight, kTop, kHeight - kBottom}, x, y,
      [](double v) { return v == std::floor(v) ? fmt::format("{:.0f}", v) : ""; },
      [&](double v) { return tick_text(v, y_step); }, "simulations",
      objective == Objective::kCycles   ? "cycles"
      : objective == Objective::kEnergy ? "energy [pJ]"
                                        : "energy-delay product [J s]");

  out += "<g fill=\"#9bb8d3\">\n";
  std::string path;
  double best = kNoLimit;
  for (std::size_t i = 0; i < r.log.size(); ++i) {
    const auto at = static_cast<double>(i + 1);
    const double cost = r.log[i].cost.first;
    best = std::min(best, cost);
    if (cost <= highest) out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"1.8\"/>\n", x(at), y(cost));
    if (best > highest) continue;
    path +=
        path.empty() ? fmt::format("M{:.1f} {:.1f}", x(at), y(best)) : fmt::format(" H{:.1f} V{:.1f}", x(at), y(best));
  }
  out += "</g>\n";
  out += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"#1b5e9b\" stroke-width=\"2\"/>\n", path);
  out += line(kLeft, y(r.bound), kWidth - kRight, y(r.bound), "stroke=\"#b03a2e\" stroke-dasharray=\"6 4\"");
  out += "<g fill=\"#b03a2e\">" + label(kWidth - kRight - 4, y(r.bound) - 5, "end", "lower bound") + "</g>\n";
  out += "<g fill=\"#1b5e9b\">" +
         label(kWidth - kRight - 4, y(r.best.cost.first) - 6, "end",
               fmt::format("best found, {:.2f}% above", 100 * r.gap())) +
         "</g>\n";
  return out + "</svg>\n";
}

}  // namespace attnvp::explore
