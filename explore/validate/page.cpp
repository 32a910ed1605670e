// docs/results/validation.md and its plot: all sets, by machine.
#include "platform/report/page/page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "explore/plot/svg.h"
#include "explore/validate/validate.h"
#include "platform/base/text.h"
#include "platform/machine/catalog.h"
#include "platform/machine/provenance.h"

namespace attnvp::validate {

namespace {

constexpr std::size_t kPageWidth = 100;  // characters of a line in documents

// Values of a machine that were calibrated, and where to. Sources name sets as "set NAME".
struct Calibration {
  std::vector<std::string> keys, sources;
  bool covers(const std::string& set) const {
    const std::string name = "set " + set;
    return std::any_of(sources.begin(), sources.end(), [&](const std::string& source) {
      const std::size_t at = source.find(name), end = at + name.size();
      return at != std::string::npos &&
             (end == source.size() ||
              (source[end] != '-' && std::isalnum(static_cast<unsigned char>(source[end])) == 0));
    });
  }
};

Calibration calibration_of(const std::string& hardware) {
  Calibration c;
  const std::vector<config::CatalogEntry> known = config::list(config::Folder::kHardware);
  if (std::none_of(known.begin(), known.end(), [&](const auto& one) { return one.name == hardware; })) return c;
  for (const auto& [key, provenance] : config::hardware_provenance(hardware)) {
    if (provenance.kind != config::ProvenanceKind::kCalibrated) continue;
    c.keys.push_back(key);
    c.sources.push_back(provenance.source);
  }
  return c;
}

// Sets of each machine, both in the order of the file names.
std::vector<std::pair<std::string, std::vector<const SetResult*>>> by_machine(const std::vector<SetResult>& results) {
  std::map<std::string, std::vector<const SetResult*>> machines;
  for (const SetResult& r : results) machines[r.hardware].push_back(&r);
  return {machines.begin(), machines.end()};
}

std::string machines_text(const std::vector<SetResult>& results) {
  report::Table table;
  using Align = report::Table::Align;
  table.column("machine", Align::kLeft), table.column("fitted rows"), table.column("blind rows");
  table.column("mean error"), table.column("rank"), table.column("worst"), table.column("calibrated", Align::kLeft);
  for (const auto& [hardware, sets] : by_machine(results)) {
    const Calibration calibration = calibration_of(hardware);
    std::size_t fitted = 0, blind = 0;
    std::vector<MeasuredPoint> points;
    for (const SetResult* r : sets) {
      (calibration.covers(r->set) ? fitted : blind) += r->points.size();
      points.insert(points.end(), r->points.begin(), r->points.end());
    }
    const Errors e = errors_of(points);
    table.row({text::printable(hardware), fmt::format("{}", fitted), fmt::format("{}", blind), report::percent(e.mape),
               fmt::format("{:.3f}", e.spearman), report::percent(e.worst),
               calibration.keys.empty() ? "nothing" : fmt::format("{}", fmt::join(calibration.keys, ", "))});
  }
  return table.text(kPageWidth);
}

// Groups of rows whose mean error is larger than that of a row to rely on.
std::string doubtful_text(const std::vector<SetResult>& results) {
  constexpr double kMost = 0.12;
  report::Table table;
  using Align = report::Table::Align;
  table.column("set", Align::kLeft), table.column("by", Align::kLeft), table.column("value", Align::kLeft);
  table.column("rows"), table.column("mean error"), table.column("bias"), table.column("worst");
  for (const SetResult& r : results) {
    for (const PointGroup& g : groups_of(r)) {
      const Errors e = errors_of(g.points);
      if (e.mape <= kMost) continue;
      table.row({text::printable(r.set), text::printable(g.by), text::printable(g.value),
                 fmt::format("{}", g.points.size()), report::percent(e.mape), signed_percent(e.bias),
                 report::percent(e.worst)});
    }
  }
  return table.text(kPageWidth);
}

std::string set_section(const SetResult& r) {
  const DataSetKind& kind =
      *std::find_if(kinds().begin(), kinds().end(), [&](const DataSetKind& k) { return k.name == r.kind; });
  std::string lead = fmt::format("{}, on `{}`.", kind.description, r.hardware);
  if (!kind.limits.empty()) lead += " " + kind.limits;
  return fmt::format("\n### {}\n\n{}\n```\n{}{}\nworst rows\n{}```\n", r.set, report::paragraph(lead, kPageWidth),
                     errors_text(r), further_text(r, kPageWidth) + groups_text(r, kPageWidth),
                     table_of(r, worst_rows(r)).text(kPageWidth));
}

}  // namespace

std::string summary(const std::vector<SetResult>& results, std::size_t line_width) {
  report::Table table;
  using Align = report::Table::Align;
  table.column("set", Align::kLeft), table.column("hardware", Align::kLeft);
  table.column("rows"), table.column("mean error"), table.column("bias"), table.column("rank correlation");
  table.column("worst");
  for (const SetResult& r : results) {
    table.row({text::printable(r.set), text::printable(r.hardware), fmt::format("{}", r.lines.size()),
               report::percent(r.errors.mape), signed_percent(r.errors.bias), fmt::format("{:.4f}", r.errors.spearman),
               report::percent(r.errors.worst)});
  }
  return table.text(line_width);
}

std::string to_markdown(const std::vector<SetResult>& results, const std::string& plot) {
  const auto paragraph = [](const char* words) { return report::paragraph(words, kPageWidth); };
  std::string out = "# Predictions beside measurements\n\n" +
                    paragraph(
                        "Written by `attnvp validate --markdown docs/results/validation.md`. An error is predicted / "
                        "measured - 1; the mean is of magnitudes, the bias of errors. "
                        "[Validation method](../explanation/validation-method.md) describes the procedure.") +
                    "\n```\n" + summary(results, kPageWidth) + "```\n";
  out += "\n## Machines\n\n" +
         paragraph(
             "At most three values of a machine's time are calibrated; `attnvp describe MACHINE` shows them with their "
             "sources. Rows are fitted if a value is calibrated to their set, otherwise blind.") +
         "\n```\n" + machines_text(results) + "```\n";
  out += fmt::format("\n![Predicted over measured values of all rows]({})\n", plot);
  out += "\n## Where not to trust it\n\n" +
         paragraph(
             "Groups of rows with a mean error above 12%, by operation, time and label. Causes are under "
             "[how to read the errors](../explanation/validation-method.md#how-to-read-the-errors).") +
         "\n```\n" + doubtful_text(results) + "```\n";
  for (const auto& [hardware, sets] : by_machine(results)) {
    out += fmt::format("\n## {}\n", hardware);
    for (const SetResult* r : sets) out += set_section(*r);
  }
  return out;
}

std::string to_svg(const std::vector<SetResult>& results) {
  constexpr std::size_t kAcross = 2;
  constexpr double kPanel = 480;
  std::vector<std::string> units;
  std::map<std::string, std::vector<DotSeries>> panels;
  for (const auto& [hardware, sets] : by_machine(results)) {
    std::map<std::string, DotSeries> of_machine;
    for (const SetResult* r : sets) {
      for (const MeasuredPoint& p : r->points) {
        const MeasuredPoint common = in_common_unit(p);
        of_machine[common.unit].points.emplace_back(common.measured, common.predicted);
      }
    }
    for (auto& [unit, series] : of_machine) {
      if (panels.count(unit) == 0) units.push_back(unit);
      series.name = text::escaped_for_html(hardware);
      panels[unit].push_back(std::move(series));
    }
  }
  const auto dots = [&](const std::string& unit) {
    std::size_t all = 0;
    for (const DotSeries& series : panels[unit]) all += series.points.size();
    return all;
  };
  std::stable_sort(units.begin(), units.end(),
                   [&](const std::string& a, const std::string& b) { return dots(a) > dots(b); });
  const std::size_t down = (units.size() + kAcross - 1) / kAcross;
  std::string out =
      plot::open_svg(kPanel * static_cast<double>(std::min(units.size(), kAcross)), kPanel * static_cast<double>(down));
  for (std::size_t i = 0; i < units.size(); ++i) {
    out += dot_plot(panels[units[i]], units[i], 4,
                    fmt::format("x=\"{:g}\" y=\"{:g}\"", kPanel * static_cast<double>(i % kAcross),
                                kPanel * static_cast<double>(i / kAcross)));
  }
  return out + "</svg>\n";
}

}  // namespace attnvp::validate
