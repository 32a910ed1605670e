#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <new>

#include "cli/command_text.h"
#include "cli/commands.h"
#include "cli/describe_options.h"
#include "cli/explore_commands.h"
#include "cli/manual.h"
#include "cli/options.h"
#include "cli/reproduce_options.h"
#include "cli/schedule_options.h"
#include "cli/validate_options.h"
#include "cli/validators.h"
#include "cli/worker.h"
#include "models/registry.h"
#include "models/riscv_processor/untimed.h"
#include "models/storage/host_memory.h"
#include "platform/config/error.h"
#include "platform/config/units.h"
#include "platform/config/words.h"
#include "platform/job/job.h"
#include "platform/stream/graph_file.h"
#include "platform/text/complaint.h"
#include "platform/text/version.h"

namespace attnvp::cli {

namespace {

constexpr int kDone = 0;
constexpr int kRunFailed = 1;
constexpr int kWrongUsage = 2;

void add_machine_options(CLI::App& app, RunArguments& a) {
  app.add_option("--hw", a.hardware, "machine: a name under configs/hardware or a path")->capture_default_str();
  app.add_option("--net", a.network, "layer: a name under configs/networks, a path, or a shape such as H=12,N=512,E=64")
      ->capture_default_str();
  app.add_option(
         "--requests", a.requests,
         "the layer for a batch of requests: a CSV file with new_tokens, cached_tokens and, for a cache of pages "
         "(page=16), block_table")
      ->check(not_empty());
  app.add_option("--set", a.settings, "set any key of the machine: key=value, e.g. l1.size='2 MiB'")
      ->allow_extra_args(false);
  app.add_option("--tiling", a.tiling,
                 "tile sizes: a name under configs/tilings, a file, nq=64,nkv=128,... (what is not given is chosen), "
                 "or auto: searched")
      ->check(not_empty());
  app.add_option("--data", a.data, "full moves, computes and checks tensors; timing gives the same cycles and counts")
      ->check(one_of({"full", "timing"}))
      ->capture_default_str();
  app.add_option("--vec", a.vec, "the VEC engines' kind, in place of the machine's")->check(one_of(kind_names("vec")));
  app.add_option("--cpu", a.cpu, "the control processors' kind, in place of the machine's")
      ->check(one_of(kind_names("control")));
  app.add_option("--firmware", a.firmware, "an ELF file that the control processors run, of kind riscv then")
      ->check(not_empty());
  app.add_option("--seed", a.seed, "seed of the random tensors")->check(whole_number())->capture_default_str();
  app.add_option("--json", a.json, "write the report as JSON to a file, or alone to stdout with '-'")
      ->check(not_empty());
}

void add_memory_limit(CLI::App& command) {
  const auto set = [](const std::string& text) {
    try {
      host_memory::set_limit(config::parse_integer(config::Unit::kBytes, text));
    } catch (const config::ConfigError& problem) {
      throw config::ConfigError(fmt::format("--memory-limit: {}", problem.what()));
    }
  };
  command.add_option_function<std::string>(
      "--memory-limit", set,
      "memory of the host that may be taken, e.g. '4 GiB' (default: nine tenths of what it and its containers have)");
}

void add_energy_range(CLI::App& command, RunArguments& a) {
  command.add_flag(
      "--energy-range", a.energy_range,
      "energies with the low and the high end of their published ranges, and rankings that hold in all of it");
}

void add_stream_options(CLI::App& app, StreamArguments& a) {
  app.add_option("graph", a.graph, "a name under configs/streams, or a path")->required();
  app.add_option("--n", a.n, "sequence length")->check(within(1, stream::kLargestSequence))->capture_default_str();
  app.add_option("--d", a.d, "head dimension")->check(within(1, stream::kLargestHead))->capture_default_str();
  app.add_option("--depth", a.depths, "set a channel's depth: CHANNEL=K, K as in the graph's file")
      ->allow_extra_args(false);
  app.add_flag("--unbounded", a.unbounded, "no channel has a depth, but those given by --depth");
  app.add_option("--seed", a.seed, "seed of the random tensors")->check(whole_number())->capture_default_str();
  app.add_option("--vcd", a.vcd, "write a waveform")->check(not_empty());
  app.add_option("--dot", a.dot, "write the graph for Graphviz, with depths and high-water marks")->check(not_empty());
  app.add_option("--json", a.json, "write the report as JSON to a file, or alone to stdout with '-'")
      ->check(not_empty());
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  return names;
}

// What is wrong with the command line, in one clause.
std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* innermost = &app;
  while (!innermost->get_subcommands().empty()) innermost = innermost->get_subcommands().front();
  const CLI::App& command = *innermost;
  const std::vector<std::string> left = app.remaining(true);
  if (!left.empty()) {
    const std::string& first = left.front();
    if (first.size() > 1 && first[0] == '-') {
      const std::string name = first.substr(0, first.find('='));
      return fmt::format("option {} is unknown{}", config::in_quotes(name), config::hint(name, option_names(command)));
    }
    const std::vector<std::string> below = command_names(command);
    if (below.empty()) return fmt::format("argument {} is one too many", config::in_quotes(first));
    return fmt::format("command {} is unknown{}", config::in_quotes(first), config::hint(first, below));
  }
  std::string text = error.what();
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    const std::vector<std::string> below = command_names(command);
    if (below.empty()) return fmt::format("{} needs an argument", command.get_name());
    return fmt::format("a command is missing; allowed: {}", fmt::join(below, ", "));
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const bool missing = text.find("missing") != std::string::npos;
    return text.substr(0, text.find(':')) + (missing ? " needs a value" : " is given more than once");
  }
  return text;
}

// Throws where what was printed did not arrive.
void check_stdout() {
  errno = 0;
  std::cout.flush();  // CLI11's help
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || !std::cout) {
    throw config::ConfigError(fmt::format("stdout cannot be written: {}",
                                          errno != 0 ? std::strerror(errno) : "no space left, or nobody reads it"));
  }
}

void print_help(const CLI::App& app, const std::vector<std::string>& topic) {
  const CLI::App* at = &app;
  for (const std::string& name : topic) {
    const std::vector<std::string> below = command_names(*at);
    if (std::find(below.begin(), below.end(), name) == below.end()) {
      throw config::ConfigError(
          fmt::format("command {} is unknown{}", config::in_quotes(name), config::hint(name, below)));
    }
    at = at->get_subcommand(name);
  }
  std::fputs(at->help().c_str(), stdout);
}

int dispatch(int argc, char** argv) {
  CLI::App app{"AttnVP: a virtual platform for attention accelerators"};
  app.require_subcommand(1);
  app.set_help_all_flag("--help-all", "help for all commands");
  app.set_version_flag("--version", text::generator(), "say which AttnVP this is");
  int status = kDone;

  RunArguments run_arguments;
  CLI::App* run_command = app.add_subcommand("run", "run one layer with one dataflow on one machine");
  add_machine_options(*run_command, run_arguments);
  std::string dataflow;
  run_command
      ->add_option("--dataflow", dataflow,
                   "dataflow[:option=value,...], see `attnvp list dataflows`; auto picks the fastest")
      ->default_str("mas")
      ->check(not_empty());
  run_command->add_option("--q", run_arguments.q, "Q from a .npy file, [B,H,N,E] or [H,N,E], float16 or float32")
      ->check(not_empty());
  run_command->add_option("--k", run_arguments.k, "K likewise")->check(not_empty());
  run_command->add_option("--v", run_arguments.v, "V likewise")->check(not_empty());
  run_command->add_option("--out", run_arguments.out, "write O to a .npy file (float16)")->check(not_empty());
  run_command
      ->add_option("--vcd", run_arguments.vcd,
                   "write a waveform, FST where the name ends in .fst, and GTKWave's view of it beside")
      ->check(not_empty());
  run_command->add_option("--timeline", run_arguments.timeline, "write a timeline for Perfetto (Chrome trace events)")
      ->check(not_empty());
  run_command
      ->add_option("--trace-scope", run_arguments.trace_scopes,
                   "trace only these modules, e.g. core1, cluster0.core*.mac, dram; repeat for more")
      ->check(not_empty())
      ->allow_extra_args(false);
  run_command->add_option("--trace-from", run_arguments.trace_from, "trace from this cycle, or time, on")
      ->check(not_empty());
  run_command
      ->add_option(
          "--profile", run_arguments.profile,
          "write where RISC-V firmware's cycles go: call stacks in the folded form, or a flame graph where the "
          "name ends in .html")
      ->check(not_empty());
  run_command
      ->add_option("--instruction-trace", run_arguments.instruction_trace,
                   "write RISC-V firmware's instructions as Spike logs them, from --trace-from to --trace-to")
      ->check(not_empty());
  run_command->add_flag("--check", run_arguments.check,
                        "examine the commands: whether they do the same whatever takes how long, see `attnvp check`");
  run_command
      ->add_option(
          "--jitter", run_arguments.jitter,
          "random extra delays of that seed wherever hardware may take longer; they must not change the output")
      ->check(whole_number());
  run_command
      ->add_option("--gdb", run_arguments.gdb_port,
                   "let gdb debug RISC-V firmware at this port of localhost; 0: a free one")
      ->check(within(0, 65535));
  run_command->add_flag("--gdb-wait", run_arguments.gdb_wait, "with --gdb: no firmware starts before gdb is there");
  run_command->add_option("--trace-to", run_arguments.trace_to, "trace up to this cycle, or time")->check(not_empty());
  run_command
      ->add_option("--action-counts", run_arguments.action_counts, "write action counts in Accelergy's form (YAML)")
      ->check(not_empty());
  add_energy_range(*run_command, run_arguments);
  run_command->callback([&] {
    run_arguments.dataflows = {dataflow};
    status = run(run_arguments);
  });

  RunArguments compare_arguments;
  CLI::App* compare_command = app.add_subcommand("compare", "one layer under several dataflows, one line each");
  add_machine_options(*compare_command, compare_arguments);
  compare_command
      ->add_option("--dataflow", compare_arguments.dataflows,
                   "dataflows, by commas or repeated (default: all that fit)")
      ->allow_extra_args(false);
  compare_command->add_option("--jobs,-j", compare_arguments.jobs, "processes; 0: as many as the host has processors")
      ->check(within(0, 1024))
      ->capture_default_str();
  compare_command
      ->add_option("--csv", compare_arguments.csv, "write a table with a row a dataflow, all values as columns")
      ->check(not_empty());
  add_energy_range(*compare_command, compare_arguments);
  compare_command->callback([&] { status = compare(compare_arguments); });

  std::string kind;
  CLI::App* list_command = app.add_subcommand(
      "list", "what there is: machines, networks, dataflows, tilings, sweeps, streams, energy tables");
  list_command->add_option("kind", kind, "only one of them")
      ->check(one_of(
          {"hardware", "networks", "dataflows", "tilings", "sweeps", "dram", "streams", "operations", "energy"}));
  list_command->callback([&] { status = list(kind); });

  DescribeArguments describe_arguments;
  add_describe(app, describe_arguments, status);

  SearchArguments search_arguments;
  CLI::App* search_command = app.add_subcommand("search", "the best tiling for a layer on a machine");
  search_command->add_option("--hw", search_arguments.hardware, "machine")->capture_default_str();
  search_command->add_option("--net", search_arguments.network, "layer")->capture_default_str();
  search_command->add_option("--dataflow", search_arguments.dataflow, "dataflow[:option=value,...]")
      ->default_str("mas")
      ->check(not_empty());
  search_command->add_option("--set", search_arguments.settings, "set any key of the machine: key=value")
      ->allow_extra_args(false);
  search_command->add_option("--objective", search_arguments.objective, "what is to be least")
      ->check(one_of({"cycles", "energy", "edp"}))
      ->capture_default_str();
  search_command->add_option("--strategy", search_arguments.strategy, "how to search")
      ->check(one_of({"grid", "ga", "mcts"}))
      ->capture_default_str();
  search_command->add_option("--budget", search_arguments.budget, "simulations; 0: all for grid, 400 otherwise")
      ->check(whole_number())
      ->capture_default_str();
  search_command
      ->add_option("--jobs,-j", search_arguments.jobs,
                   "processes, of grid and ga; 0: as many as the host has processors. The result is the same")
      ->check(within(0, 1024))
      ->capture_default_str();
  search_command->add_option("--seed", search_arguments.seed, "seed")->check(whole_number())->capture_default_str();
  search_command->add_option("--csv", search_arguments.csv, "write the convergence as CSV")->check(not_empty());
  search_command->add_option("--svg", search_arguments.svg, "write the convergence as a plot")->check(not_empty());
  search_command->add_option("--save", search_arguments.save, "write the best tiling, as --tiling reads it")
      ->check(not_empty());
  search_command->add_option("--json", search_arguments.json, "write JSON to a file, or alone to stdout with '-'")
      ->check(not_empty());
  search_command->callback([&] { status = search(search_arguments); });

  ReproduceCommands reproduce_commands;
  reproduce_commands.add_to(app, status);
  SweepCommands sweep_commands;
  sweep_commands.add_to(app, status);

  ScheduleArguments schedule_arguments, check_arguments;
  add_schedule(app, schedule_arguments, status);
  add_check(app, check_arguments, status);

  StreamArguments stream_arguments;
  CLI::App* stream_command = app.add_subcommand("stream", "run a streaming graph: nodes joined by bounded FIFOs");
  add_stream_options(*stream_command, stream_arguments);
  stream_command->callback([&] { status = stream(stream_arguments); });

  ValidateArguments validate_arguments;
  add_validate(app, validate_arguments, status);
  ValidateArguments calibrate_arguments;
  add_calibrate(app, calibrate_arguments, status);

  NewFirmwareArguments new_arguments;
  CLI::App* new_command = app.add_subcommand("new", "a project of one's own to begin with");
  new_command->require_subcommand(1);
  CLI::App* new_firmware_command =
      new_command->add_subcommand("firmware", "a dataflow as firmware for RISC-V control processors, built with make");
  new_firmware_command->add_option("folder", new_arguments.folder, "is made; it must not have files")
      ->required()
      ->check(not_empty());
  new_firmware_command->add_option("--hw", new_arguments.hardware, "the machine that it is for")->capture_default_str();
  new_firmware_command->add_option("--name", new_arguments.name, "of the dataflow (default: the folder's)")
      ->check(not_empty());
  new_firmware_command->callback([&] { status = new_firmware(new_arguments); });

  RiscvArguments riscv_arguments;
  CLI::App* riscv_command = app.add_subcommand(
      "riscv", "run a bare-metal RV32IMC program on the core alone: RAM at 0x80000000, its end by HTIF at `tohost`");
  riscv_command->add_option("program", riscv_arguments.program, "an ELF file")->required();
  riscv_command->add_option("--max-cycles", riscv_arguments.most_cycles, "give up after so many cycles")
      ->check(within(1, UINT64_MAX))
      ->capture_default_str();
  riscv_command->callback([&] { status = riscv(riscv_arguments); });

  ReportArguments report_arguments;
  CLI::App* report_command =
      app.add_subcommand("report", "one page with charts of one or more runs, to open in a browser");
  report_command->add_option("runs", report_arguments.runs, "files of run --json or compare --json")
      ->required()
      ->check(not_empty());
  report_command->add_option("-o,--output", report_arguments.output, "the page")
      ->check(not_empty())
      ->capture_default_str();
  report_command->callback([&] { status = report(report_arguments); });

  BenchArguments bench_arguments;
  CLI::App* bench_command = app.add_subcommand("bench", "measure the simulator's own speed");
  bench_command->add_option("--hw", bench_arguments.hardware, "machine")->capture_default_str();
  bench_command->add_option("--net", bench_arguments.network, "layer")->capture_default_str();
  bench_command->add_option("--seconds", bench_arguments.seconds, "time per measurement")
      ->check(CLI::Range(0.01, 600.0))
      ->capture_default_str();
  bench_command
      ->add_option("--against", bench_arguments.against,
                   "another build of this program: its figures beside, measured in turn with these")
      ->check(not_empty());
  bench_command->callback([&] { status = bench(bench_arguments); });

  for (CLI::App* command :
       {run_command, compare_command, search_command, app.get_subcommand("reproduce"), stream_command,
        app.get_subcommand("sweep"), bench_command, app.get_subcommand("validate")}) {
    add_memory_limit(*command);
  }

  app.add_subcommand("worker", "commands that come over stdin, a socket, each in a process of its own; for programs")
      ->callback([&] { status = worker(); });

  std::vector<std::string> topic;
  CLI::App* help_command = app.add_subcommand("help", "help for a command, as its --help");
  help_command->add_option("command", topic, "such as run, or reproduce mas");
  help_command->callback([&] { print_help(app, topic); });

  app.add_subcommand("completion", "a script that completes commands and options in bash")->callback([&] {
    std::fputs(bash_completion(app).c_str(), stdout);
  });
  app.add_subcommand("man", "this command line as a man page, for man -l")->callback([&] {
    std::fputs(man_page(app).c_str(), stdout);
  });

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    app.exit(e);
    check_stdout();
    return kDone;
  } catch (const CLI::ParseError& e) {
    text::complain(explain(app, e));
    return kWrongUsage;
  }
  check_stdout();
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    text::set_command(command_text(argc, argv));
    return dispatch(argc, argv);
  } catch (const config::ConfigError& e) {
    text::complain(e.what());
    return kWrongUsage;
  } catch (const job::RunError& e) {
    text::complain(e.what());
    return kRunFailed;
  } catch (const riscv::ElfError& e) {
    text::complain(e.what());
    return kWrongUsage;
  } catch (const riscv::ProgramError& e) {
    text::complain(e.what());
    return kRunFailed;
  } catch (const host_memory::Exceeded& e) {
    text::complain(e.what());
    return kRunFailed;
  } catch (const std::bad_alloc&) {
    text::complain("this host has not enough memory for that layer or machine");
    return kRunFailed;
  } catch (const std::exception& e) {
    text::complain(fmt::format("unexpected failure: {}", e.what()));
    return kRunFailed;
  }
}

}  // namespace attnvp::cli
