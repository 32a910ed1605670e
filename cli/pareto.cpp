// `attnvp pareto` and `attnvp sensitivity`.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <utility>

#include "cli/explore_commands.h"
#include "explore/analysis/page.h"
#include "explore/analysis/versus.h"
#include "platform/files/outputs.h"
#include "platform/text/printable.h"

namespace attnvp::cli {

namespace {

using explore::Goal;
constexpr std::size_t kMostRows = 40;  // of a table on the terminal
constexpr std::size_t kMostLosses = 10;

std::string stem(const std::string& path) { return std::filesystem::path(path).stem().string(); }

}  // namespace

int pareto(const ParetoArguments& a) {
  std::vector<Goal> goals{Goal(a.x, "-x"), Goal(a.y, "-y")};
  if (!a.z.empty()) goals.emplace_back(a.z, "-z");
  explore::Selection selection(a.database, a.where);
  const std::uint64_t without = selection.drop_without(goals);
  const explore::Front front = explore::front_of(selection, std::move(goals), a.database);
  std::string versus, versus_shown;  // in a page, on the terminal
  if (!a.versus.empty()) {
    const Goal& goal = front.goals.front();
    const explore::Versus pairs = explore::versus_of(selection, a.versus, goal);
    versus = explore::versus_text(selection, pairs, goal, kMostLosses);
    versus_shown = explore::versus_text(selection, pairs, goal, kMostLosses, text::line_width());
  }
  const std::string where = a.where.empty() ? "" : ", " + a.where;
  const auto first = [&](const char* column) {
    return selection.text(selection.rows().front(), explore::column_index(column));
  };
  const std::string title =
      text::printable(fmt::format("{} on {} ({}{})", first("network"), first("hardware"), stem(a.database), where));
  files::Outputs outputs;
  files::Output* const csv = outputs.open("--csv", a.csv);
  files::Output* const svg = outputs.open("--svg", a.svg);
  files::Output* const html = outputs.open("--html", a.html);
  if (csv != nullptr) csv->write(explore::front_csv(selection, front), files::Form::kCsv);
  if (svg != nullptr) svg->write(explore::front_svg(selection, front, title), files::Form::kSvg);
  if (html != nullptr) {
    html->write(explore::page_html({title, versus}, selection, front, explore::sensitivity_of(selection, front.goals)),
                files::Form::kHtml);
  }
  outputs.commit();
  std::string out = fmt::format("{} of {} jobs are on the front", front.rows.size(), selection.rows().size());
  if (selection.failed() > 0) out += fmt::format("; {} more failed", selection.failed());
  if (without > 0) out += fmt::format("; {} more have no such value", without);
  out += "\n\n";
  out += explore::front_table(selection, front, kMostRows);
  if (front.rows.size() > kMostRows)
    out += fmt::format("... and {} more; --csv has all\n", front.rows.size() - kMostRows);
  if (!a.within.empty()) out += "\n" + explore::within_text(selection, front, std::stod(a.within));
  if (!versus.empty()) out += "\n" + versus_shown;
  std::fputs(out.c_str(), stdout);
  return 0;
}

int sensitivity(const SensitivityArguments& a) {
  std::vector<Goal> goals;
  for (const std::string& objective : a.objectives) goals.emplace_back(objective, "--objective");
  explore::Selection selection(a.database, a.where);
  selection.drop_without(goals);
  const std::vector<explore::Effect> effects = explore::sensitivity_of(selection, goals);
  files::Outputs outputs;
  files::Output* const csv = outputs.open("--csv", a.csv);
  files::Output* const svg = outputs.open("--svg", a.svg);
  if (csv != nullptr) csv->write(explore::sensitivity_csv(effects, goals), files::Form::kCsv);
  if (svg != nullptr) svg->write(explore::sensitivity_svg(effects, goals), files::Form::kSvg);
  outputs.commit();
  std::fputs(explore::sensitivity_table(effects, goals).c_str(), stdout);
  return 0;
}

}  // namespace attnvp::cli
