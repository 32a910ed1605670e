#include <memory>

#include "cli/commands.h"
#include "cli/line.h"
#include "cli/machine_options.h"
#include "cli/validators.h"

namespace attnvp::cli {

namespace {

void add_options(CLI::App& app, ScheduleArguments& a, const char* what) {
  app.add_option("--hw", a.hardware, "machine: a name under configs/hardware or a path")->capture_default_str();
  app.add_option("--net", a.network, "layer: a name under configs/networks, a path, or a shape such as H=12,N=512,E=64")
      ->capture_default_str();
  app.add_option("--dataflow", a.dataflow, "dataflow, with its options: NAME or NAME:option=value,...")
      ->default_str("mas")
      ->check(not_empty());
  app.add_option("--set", a.settings, "set any key of the machine: key=value")->allow_extra_args(false);
  app.add_option("--tiling", a.tiling, "tile sizes; what is not given is chosen")->check(not_empty());
  add_tuning_options(app, a.tuning_budget, a.no_cache);
  app.add_option("--firmware", a.firmware, "an ELF file for RISC-V control processors, in place of the dataflows here")
      ->check(not_empty());
  app.add_option("--json", a.json, what)->check(not_empty());
}

}  // namespace

void add_schedule(CLI::App& app, int& status) {
  const auto a = std::make_shared<ScheduleArguments>();
  CLI::App* command = app.add_subcommand(
      "schedule",
      "a dataflow's commands with their events, one line each, and what they add up to; nothing is simulated");
  add_options(*command, *a, "write the commands as JSON to a file, or alone to stdout with '-'");
  command->add_option("--most", a->most, "lines at most")->check(whole_number())->capture_default_str();
  command->callback([a, &status] { status = schedule(*a); });
}

void add_check(CLI::App& app, int& status) {
  const auto a = std::make_shared<ScheduleArguments>();
  CLI::App* command = app.add_subcommand(
      "check",
      "whether a dataflow's commands do the same whatever takes how long: races, waits without end, space that is not "
      "held or not written");
  add_options(*command, *a, "write the findings as JSON to a file, or alone to stdout with '-'");
  a->most = 20;
  command->add_option("--most", a->most, "findings at most")->check(whole_number())->capture_default_str();
  add_memory_limit(*command);
  add_cycle_limit(*command, a->max_cycles, "ten billion of the control processor");
  command->callback([a, &status] { status = check(*a); });
}

}  // namespace attnvp::cli
