#include <memory>

#include "cli/explore_commands.h"
#include "cli/line.h"
#include "cli/machine_options.h"
#include "cli/validators.h"

namespace attnvp::cli {

void add_search(CLI::App& app, int& status) {
  const auto a = std::make_shared<SearchArguments>();
  CLI::App* command = app.add_subcommand("search", "the best tiling for a layer on a machine");
  command->add_option("--hw", a->hardware, "machine")->capture_default_str();
  command->add_option("--net", a->network, "layer")->capture_default_str();
  command->add_option("--dataflow", a->dataflow, "dataflow[:option=value,...]")->default_str("mas")->check(not_empty());
  command->add_option("--set", a->settings, "set any key of the machine: key=value")->allow_extra_args(false);
  command->add_option("--objective", a->objective, "what is to be least")
      ->check(one_of({"cycles", "energy", "edp"}))
      ->capture_default_str();
  command->add_option("--strategy", a->strategy, "how to search")
      ->check(one_of({"descent", "grid", "ga", "mcts"}))
      ->capture_default_str();
  command->add_option("--budget", a->budget, "evaluations; 0: all for grid, 400 otherwise")
      ->check(whole_number())
      ->capture_default_str();
  command
      ->add_option("--jobs,-j", a->jobs,
                   "processes, of grid and ga; 0: as many as the host has processors. The result is the same")
      ->check(within(0, 1024))
      ->capture_default_str();
  command->add_option("--time", a->seconds, "end after so many seconds with the best so far; 0: no limit")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
  command->add_option("--seed", a->seed, "seed")->check(whole_number())->capture_default_str();
  command->add_option("--csv", a->csv, "write the convergence as CSV")->check(not_empty());
  command->add_option("--svg", a->svg, "write the convergence as a plot")->check(not_empty());
  command->add_option("--save", a->save, "write the best tiling, as --tiling reads it")->check(not_empty());
  command->add_option("--json", a->json, "write JSON to a file, or alone to stdout with '-'")->check(not_empty());
  add_memory_limit(*command);
  command->callback([a, &status] { status = search(*a); });
}

}  // namespace attnvp::cli
