#include <fmt/format.h>

#include <algorithm>

#include "explore/analysis/measure.h"
#include "explore/analysis/sensitivity.h"
#include "explore/plot/svg.h"
#include "platform/report/table.h"
#include "platform/text/printable.h"

namespace attnvp::explore {

namespace {

constexpr double kPanelWidth = 250, kPanelHeight = 190, kLeft = 84, kTop = 34, kBottom = 62, kGap = 18;

// Means as a line (numbers) or bars of dots, the rows' range behind them.
std::string panel(const Effect& e, const Measure& measure, double x0, double y0, bool first_column) {
  const plot::Frame f{x0, x0 + kPanelWidth - kGap, y0 + kTop, y0 + kPanelHeight - kBottom};
  std::vector<double> values;
  for (const Level& l : e.levels) {
    values.push_back(l.least);
    values.push_back(l.most);
  }
  const plot::Scale y = plot::scale_of(values, f.bottom, f.top);
  const auto n = static_cast<double>(e.levels.size());
  const auto x = [&](std::size_t i) { return f.left + (static_cast<double>(i) + 0.5) / n * (f.right - f.left); };
  std::string out;
  for (const double v : y.ticks(3)) {
    out += plot::line(f.left, y(v), f.right, y(v), "stroke=\"#ddd\"");
    if (first_column) out += plot::label(f.left - 6, y(v) + 4, "end", measure.tick(v));
  }
  out += plot::line(f.left, f.bottom, f.right, f.bottom, "stroke=\"#222\"");
  std::string path;
  for (std::size_t i = 0; i < e.levels.size(); ++i) {
    const Level& l = e.levels[i];
    out +=
        plot::line(x(i), y(l.least), x(i), y(l.most), "stroke=\"#9bb8d3\" stroke-width=\"6\" stroke-linecap=\"round\"");
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x(i), y(l.mean));
    out += fmt::format(
        "<text transform=\"translate({:.1f} {:.1f}) rotate(-35)\" text-anchor=\"end\" font-size=\"10\">{}</text>\n",
        x(i) + 4, f.bottom + 13, text::escaped_for_html(l.text));
  }
  if (!columns()[e.axis].is_text()) {
    out += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"#0b4a7f\" stroke-width=\"1.6\"/>\n", path);
  }
  for (std::size_t i = 0; i < e.levels.size(); ++i) {
    out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.4\" fill=\"#0b4a7f\"/>\n", x(i), y(e.levels[i].mean));
  }
  out += plot::label(f.left, f.top - 8, "start",
                     fmt::format("{}: {} explained", words_of(columns()[e.axis].name), report::percent(e.share)));
  return out;
}

}  // namespace

std::string sensitivity_svg(const std::vector<Effect>& effects, const std::vector<Goal>& goals) {
  const std::size_t per_row = effects.size() / std::max<std::size_t>(goals.size(), 1);
  const double width = kLeft + kPanelWidth * static_cast<double>(std::max<std::size_t>(per_row, 1));
  const double height = kPanelHeight * static_cast<double>(goals.size()) + 26;
  std::string out = plot::open_svg(width, height);
  out += "<g font-size=\"14\" font-weight=\"bold\">" +
         plot::label(width / 2, 20, "middle", "means (dots) and ranges (bars) at each value of an axis") + "</g>\n";
  std::vector<Measure> measures;
  for (std::size_t g = 0; g < goals.size(); ++g) {
    std::vector<double> values;
    for (const Effect& e : effects) {
      for (const Level& l : e.levels) {
        if (e.goal == g) values.push_back(l.most);
      }
    }
    measures.push_back(measure_of(goals[g], values));
  }
  std::vector<std::size_t> column(goals.size(), 0);
  for (const Effect& e : effects) {
    const std::size_t c = column[e.goal]++;
    out += panel(e, measures[e.goal], kLeft + kPanelWidth * static_cast<double>(c),
                 20 + kPanelHeight * static_cast<double>(e.goal), c == 0);
  }
  for (std::size_t g = 0; g < goals.size(); ++g) {
    out +=
        fmt::format("<text transform=\"translate(16 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                    20 + kPanelHeight * (static_cast<double>(g) + 0.45), text::escaped_for_html(measures[g].title()));
  }
  return out + "</svg>\n";
}

}  // namespace attnvp::explore
