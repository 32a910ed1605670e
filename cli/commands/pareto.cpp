// `attnvp pareto`: Pareto front of a sweep's jobs.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <utility>

#include "cli/commands.h"
#include "cli/shared/options.h"
#include "cli/shared/progress.h"
#include "explore/analysis/analysis.h"
#include "platform/base/files.h"
#include "platform/base/text.h"
#include "platform/machine/error.h"

namespace attnvp::cli {

namespace {

struct ParetoArguments {
  std::string database;
  // Expressions over columns; minimised, "max:..." maximised. Empty: kX and kY, with networks their sums.
  std::string x, y, z;
  std::string where;                  // condition on rows
  std::vector<std::string> networks;  // "decode=NETWORK": joins the jobs of a design
  std::string within;                 // "5%": least y within that distance of the best x
  std::string versus;                 // "mas,flat": finds where the first wins
  std::string csv, svg, html;
};

using explore::Goal;
constexpr char kX[] = "cycles", kY[] = "energy_pj.total";
constexpr std::size_t kMostRows = 40;  // rows of a table on the terminal
constexpr std::size_t kMostLosses = 10;

std::string stem(const std::string& path) { return std::filesystem::path(path).stem().string(); }

Goal goal_of(const std::string& given, const char* column, const char* option, const explore::Networks& networks) {
  return {given.empty() ? networks.sum_of(column) : given, option, networks};
}

int pareto(const ParetoArguments& a) {
  const explore::Networks networks(a.networks);
  if (networks.any() && !(a.versus.empty() && a.html.empty())) {
    throw config::ConfigError(fmt::format("{} with --network: is for jobs of one network; allowed are --csv and --svg",
                                          a.versus.empty() ? "--html" : "--versus"));
  }
  std::vector<Goal> goals{goal_of(a.x, kX, "-x", networks), goal_of(a.y, kY, "-y", networks)};
  if (!a.z.empty()) goals.emplace_back(a.z, "-z", networks);
  explore::Selection selection(a.database, a.where, networks);
  const std::uint64_t without = selection.drop_without(goals);
  const explore::Front front = explore::front_of(selection, std::move(goals), a.database);
  std::string versus, versus_shown;  // for the page; for the terminal
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
  std::string network = networks.any() ? "" : first("network");
  for (const auto& [name, of] : networks.named()) network += (network.empty() ? "" : ", ") + name;
  const std::string title =
      text::printable(fmt::format("{} on {} ({}{})", network, first("hardware"), stem(a.database), where));
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
  std::string out = fmt::format("{} of {} {} are on the front", front.rows.size(), selection.rows().size(),
                                networks.any() ? "designs" : "jobs");
  if (selection.incomplete() > 0) out += fmt::format("; {} more lack a network", selection.incomplete());
  if (selection.failed() > 0) out += fmt::format("; {} more failed", selection.failed());
  if (without > 0) out += fmt::format("; {} more have no such value", without);
  out += "\n\n";
  out += explore::front_table(selection, front, kMostRows);
  if (front.rows.size() > kMostRows)
    out += fmt::format("... and {} more; --csv has all\n", front.rows.size() - kMostRows);
  if (!a.within.empty()) out += "\n" + explore::within_text(selection, front, std::stod(a.within));
  if (!versus.empty()) out += "\n" + versus_shown;
  print(out);
  return 0;
}

}  // namespace

void add_pareto(CLI::App& app, int& status) {
  const auto a = std::make_shared<ParetoArguments>();
  CLI::App& command = *app.add_subcommand("pareto", "the jobs of a sweep that no other job beats in everything");
  command.add_option("database", a->database, "made by attnvp sweep")->required();
  command.add_option("-x", a->x, "what is to be least: a column or an expression; max:... for most")->default_str(kX);
  command.add_option("-y", a->y, "the same, upwards in the plot")->default_str(kY);
  add_text(command, "-z", a->z, "a third one, the colour in the plot");
  add_text(command, "--where", a->where, "only jobs for which it holds, e.g. \"cores == 2\"");
  add_list(
      command, "--network", a->networks,
      "a name for a network in expressions, 'decode=NETWORK': designs with jobs of all named networks are compared");
  command.add_option("--within", a->within, "the job with the least -y of those whose -x is so close to the best: 5%")
      ->check(share());
  add_text(command, "--versus", a->versus, "two dataflows, e.g. mas,flat: where does the first win, and where not?");
  add_output(command, "--csv", a->csv, "write the front as CSV");
  add_output(command, "--svg", a->svg, "write the plot");
  add_output(command, "--html", a->html, "write a page: plot with clickable points, front, sensitivity");
  command.callback([a, &status] { status = pareto(*a); });
}

}  // namespace attnvp::cli
