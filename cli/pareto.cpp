// `attnvp pareto` and `attnvp sensitivity`.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <utility>

#include "explore/analysis/page.h"
#include "explore/analysis/versus.h"
#include "cli/explore_commands.h"
#include "platform/tensors/atomic_file.h"

namespace attnvp::cli {

namespace {

using explore::Goal;
constexpr std::size_t kMostRows = 40;  // of a table on the terminal
constexpr std::size_t kMostLosses = 10;

// All are written before the first is put in place.
class Outputs {
 public:
  void add(const std::string& path, const std::string& text) {
    if (path.empty()) return;
    files_.emplace_back(std::make_unique<tensors::AtomicFile>(path));
    files_.back()->write(text);
  }
  void commit() {
    for (const auto& file : files_) file->commit();
  }

 private:
  std::vector<std::unique_ptr<tensors::AtomicFile>> files_;
};

std::string stem(const std::string& path) { return std::filesystem::path(path).stem().string(); }

}  // namespace

int pareto(const ParetoArguments& a) {
  std::vector<Goal> goals{Goal(a.x, "-x"), Goal(a.y, "-y")};
  if (!a.z.empty()) goals.emplace_back(a.z, "-z");
  const explore::Selection selection(a.database, a.where);
  const explore::Front front = explore::front_of(selection, std::move(goals), a.database);
  std::string versus;
  if (!a.versus.empty()) {
    const Goal& goal = front.goals.front();
    versus = explore::versus_text(selection, explore::versus_of(selection, a.versus, goal), goal, kMostLosses);
  }
  const std::string where = a.where.empty() ? "" : ", " + a.where;
  const auto first = [&](const char* column) {
    return selection.text(selection.rows().front(), explore::column_index(column));
  };
  const std::string title =
      fmt::format("{} on {} ({}{})", first("network"), first("hardware"), stem(a.database), where);
  Outputs outputs;
  outputs.add(a.csv, explore::front_csv(selection, front));
  if (!a.svg.empty()) outputs.add(a.svg, explore::front_svg(selection, front, title));
  if (!a.html.empty()) {
    outputs.add(a.html,
                explore::page_html({title, versus}, selection, front, explore::sensitivity_of(selection, front.goals)));
  }
  outputs.commit();
  std::string text = fmt::format("{} of {} jobs are on the front{}\n\n", front.rows.size(), selection.rows().size(),
                                 selection.failed() > 0 ? fmt::format("; {} more failed", selection.failed()) : "");
  text += explore::front_table(selection, front, kMostRows);
  if (front.rows.size() > kMostRows)
    text += fmt::format("... and {} more; --csv has all\n", front.rows.size() - kMostRows);
  if (!versus.empty()) text += "\n" + versus;
  std::fputs(text.c_str(), stdout);
  return 0;
}

int sensitivity(const SensitivityArguments& a) {
  std::vector<Goal> goals;
  for (const std::string& objective : a.objectives) goals.emplace_back(objective, "--objective");
  const explore::Selection selection(a.database, a.where);
  const std::vector<explore::Effect> effects = explore::sensitivity_of(selection, goals);
  Outputs outputs;
  outputs.add(a.csv, explore::sensitivity_csv(effects, goals));
  if (!a.svg.empty()) outputs.add(a.svg, explore::sensitivity_svg(effects, goals));
  outputs.commit();
  std::fputs(explore::sensitivity_table(effects, goals).c_str(), stdout);
  return 0;
}

}  // namespace attnvp::cli
