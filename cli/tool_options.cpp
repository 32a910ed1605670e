// Commands of few options.
#include <memory>

#include "cli/commands.h"
#include "cli/line.h"
#include "cli/machine_options.h"
#include "cli/validators.h"

namespace attnvp::cli {

void add_list(CLI::App& app, int& status) {
  const auto kind = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand(
      "list", "what there is: machines, networks, dataflows, tilings, sweeps, streams, energy tables");
  command->add_option("kind", *kind, "only one of them")
      ->check(one_of(
          {"hardware", "networks", "dataflows", "tilings", "sweeps", "dram", "streams", "operations", "energy"}));
  command->callback([kind, &status] { status = list(*kind); });
}

void add_new(CLI::App& app, int& status) {
  const auto a = std::make_shared<NewFirmwareArguments>();
  CLI::App* new_command = app.add_subcommand("new", "a project of one's own to begin with");
  new_command->require_subcommand(1);
  CLI::App* command =
      new_command->add_subcommand("firmware", "a dataflow as firmware for RISC-V control processors, built with make");
  command->add_option("folder", a->folder, "is made; it must not have files")->required()->check(not_empty());
  command->add_option("--hw", a->hardware, "the machine that it is for")->capture_default_str();
  command->add_option("--name", a->name, "of the dataflow (default: the folder's)")->check(not_empty());
  command->callback([a, &status] { status = new_firmware(*a); });
}

void add_riscv(CLI::App& app, int& status) {
  const auto a = std::make_shared<RiscvArguments>();
  CLI::App* command = app.add_subcommand(
      "riscv", "run a bare-metal RV32IMC program on the core alone: RAM at 0x80000000, its end by HTIF at `tohost`");
  command->add_option("program", a->program, "an ELF file")->required();
  command->add_option("--max-cycles", a->most_cycles, "give up after so many cycles")
      ->check(within(1, UINT64_MAX))
      ->capture_default_str();
  command->callback([a, &status] { status = riscv(*a); });
}

void add_cache(CLI::App& app, int& status) {
  struct Flags {
    bool clear = false, list = false;
  };
  const auto flags = std::make_shared<Flags>();
  CLI::App* command =
      app.add_subcommand("cache", "the tile sizes that were chosen and stored: where they are, how many");
  command->add_flag("--list", flags->list, "list them");
  command->add_flag("--clear", flags->clear, "remove them all");
  command->callback([flags, &status] { status = cache(flags->clear, flags->list); });
}

void add_report(CLI::App& app, int& status) {
  const auto a = std::make_shared<ReportArguments>();
  CLI::App* command = app.add_subcommand("report", "one page with charts of one or more runs, to open in a browser");
  command->add_option("runs", a->runs, "files of run --json or compare --json")->required()->check(not_empty());
  command->add_option("-o,--output", a->output, "the page")->check(not_empty())->capture_default_str();
  command->callback([a, &status] { status = report(*a); });
}

void add_bench(CLI::App& app, int& status) {
  const auto a = std::make_shared<BenchArguments>();
  CLI::App* command = app.add_subcommand("bench", "measure the simulator's own speed");
  command->add_option("--hw", a->hardware, "machine")->capture_default_str();
  command->add_option("--net", a->network, "layer")->capture_default_str();
  command->add_option("--seconds", a->seconds, "time per measurement")
      ->check(CLI::Range(0.01, 600.0))
      ->capture_default_str();
  command
      ->add_option("--against", a->against,
                   "another build of this program: its figures beside, measured in turn with these")
      ->check(not_empty());
  add_memory_limit(*command);
  command->callback([a, &status] { status = bench(*a); });
}

}  // namespace attnvp::cli
