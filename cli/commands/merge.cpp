// `attnvp merge`: merges the databases of a sweep's shards.
#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/shared/options.h"
#include "cli/shared/progress.h"
#include "explore/sweep/sweep.h"
#include "platform/base/text.h"
#include "platform/report/table.h"

namespace attnvp::cli {

namespace {

struct MergeArguments {
  std::string destination;
  std::vector<std::string> sources;
  bool different_sweeps = false;
};

int merge(const MergeArguments& a) {
  const explore::MergeResult r = explore::merge_databases(a.destination, a.sources, a.different_sweeps);
  print(fmt::format("merged       {}\nadded        {}\nthere before {}\ndatabase     {}, {}\n",
                    report::counted(a.sources.size(), "database"), report::counted(r.added, "row"),
                    report::with_commas(r.equal), text::printable(a.destination), report::counted(r.rows, "row")));
  return 0;
}

}  // namespace

void add_merge(CLI::App& app, int& status) {
  const auto a = std::make_shared<MergeArguments>();
  CLI::App& command = *app.add_subcommand("merge", "join the databases of a sweep's shards");
  command.add_option("destination", a->destination, "database that takes all")->required();
  command.add_option("sources", a->sources, "databases to take from")->required();
  command.add_flag("--different-sweeps", a->different_sweeps, "databases of different sweeps, too");
  command.callback([a, &status] { status = merge(*a); });
}

}  // namespace attnvp::cli
