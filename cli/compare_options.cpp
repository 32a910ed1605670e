#include <memory>

#include "cli/commands.h"
#include "cli/line.h"
#include "cli/machine_options.h"
#include "cli/validators.h"

namespace attnvp::cli {

void add_compare(CLI::App& app, int& status) {
  const auto a = std::make_shared<RunArguments>();
  CLI::App* command = app.add_subcommand("compare", "one layer under several dataflows, one line each");
  add_machine_options(*command, *a);
  command->add_option("--dataflow", a->dataflows, "dataflows, by commas or repeated (default: all that fit)")
      ->allow_extra_args(false);
  command->add_option("--jobs,-j", a->jobs, "processes; 0: as many as the host has processors")
      ->check(within(0, 1024))
      ->capture_default_str();
  command->add_option("--csv", a->csv, "write a table with a row a dataflow, all values as columns")
      ->check(not_empty());
  add_energy_range(*command, *a);
  add_memory_limit(*command);
  command->callback([a, &status] { status = compare(*a); });
}

}  // namespace attnvp::cli
