// `attnvp sensitivity`: effect of each axis of a sweep.
#include <memory>

#include "cli/commands.h"
#include "cli/shared/options.h"
#include "cli/shared/progress.h"
#include "explore/analysis/analysis.h"
#include "platform/base/files.h"

namespace attnvp::cli {

namespace {

struct SensitivityArguments {
  std::string database;
  std::vector<std::string> objectives = {"cycles", "energy_pj.total"};
  std::string where;
  std::string csv, svg;
};

int sensitivity(const SensitivityArguments& a) {
  std::vector<explore::Goal> goals;
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
  print(explore::sensitivity_table(effects, goals));
  return 0;
}

}  // namespace

void add_sensitivity(CLI::App& app, int& status) {
  const auto a = std::make_shared<SensitivityArguments>();
  CLI::App& command = *app.add_subcommand("sensitivity", "what each axis of a sweep does to each objective");
  command.add_option("database", a->database, "made by attnvp sweep")->required();
  add_list(command, "--objective", a->objectives, "a column or an expression; repeat for more")->capture_default_str();
  add_text(command, "--where", a->where, "only jobs for which it holds, e.g. \"cores == 2\"");
  add_output(command, "--csv", a->csv, "write all levels as CSV");
  add_output(command, "--svg", a->svg, "write the plot");
  command.callback([a, &status] { status = sensitivity(*a); });
}

}  // namespace attnvp::cli
