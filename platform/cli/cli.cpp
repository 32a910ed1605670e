#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <new>

#include "platform/cli/commands.h"
#include "platform/config/error.h"
#include "platform/job/job.h"

namespace attnvp::cli {

namespace {

constexpr int kDone = 0;
constexpr int kRunFailed = 1;
constexpr int kWrongUsage = 2;

void add_machine_options(CLI::App& app, RunArguments& a) {
  app.add_option("--hw", a.hardware, "machine: a name under configs/hardware or a path")->capture_default_str();
  app.add_option("--net", a.network, "layer: a name under configs/networks, a path, or a shape such as H=12,N=512,E=64")
      ->capture_default_str();
  app.add_option("--set", a.settings, "set any key of the machine: key=value, e.g. l1.size='2 MiB'");
  app.add_option("--tiling", a.tiling, "tile sizes: a file or nq=64,nkv=128,...; what is not given is chosen");
  app.add_option("--data", a.data, "full moves, computes and checks tensors; timing gives the same cycles and counts")
      ->check(CLI::IsMember({"full", "timing"}))
      ->capture_default_str();
  app.add_option("--vec", a.vec, "the VEC engine's implementation")->check(CLI::IsMember({"model"}))->capture_default_str();
  app.add_option("--cpu", a.cpu, "the control processor")->check(CLI::IsMember({"native"}))->capture_default_str();
  app.add_option("--seed", a.seed, "seed of the random tensors")->capture_default_str();
  app.add_option("--json", a.json, "write the report as JSON to a file, or alone to stdout with '-'");
}

int dispatch(int argc, char** argv) {
  CLI::App app{"AttnVP: a virtual platform for attention accelerators"};
  app.require_subcommand(1);
  app.set_help_all_flag("--help-all", "help for all commands");
  int status = kDone;

  RunArguments run_arguments;
  CLI::App* run_command = app.add_subcommand("run", "run one layer with one dataflow on one machine");
  add_machine_options(*run_command, run_arguments);
  std::string dataflow = "mas";
  run_command->add_option("--dataflow", dataflow, "dataflow[:option=value,...], see `attnvp list dataflows`")
      ->capture_default_str();
  run_command->add_option("--q", run_arguments.q, "Q from a .npy file, [B,H,N,E] or [H,N,E], float16 or float32");
  run_command->add_option("--k", run_arguments.k, "K likewise");
  run_command->add_option("--v", run_arguments.v, "V likewise");
  run_command->add_option("--out", run_arguments.out, "write O to a .npy file (float16)");
  run_command->add_option("--vcd", run_arguments.vcd, "write a waveform");
  run_command->callback([&] {
    run_arguments.dataflows = {dataflow};
    status = run(run_arguments);
  });

  RunArguments compare_arguments;
  CLI::App* compare_command = app.add_subcommand("compare", "one layer under several dataflows, one line each");
  add_machine_options(*compare_command, compare_arguments);
  compare_command->add_option("--dataflow", compare_arguments.dataflows, "a dataflow; repeat for more (default: all)");
  compare_command->callback([&] { status = compare(compare_arguments); });

  std::string kind;
  CLI::App* list_command = app.add_subcommand("list", "what there is: machines, networks, dataflows, energy tables");
  list_command->add_option("kind", kind, "only one of them")
      ->check(CLI::IsMember({"hardware", "networks", "dataflows", "energy"}));
  list_command->callback([&] { status = list(kind); });

  DescribeArguments describe_arguments;
  CLI::App* describe_command = app.add_subcommand(
      "describe", "all there is to know of a machine (effective config, address map), network, dataflow, or of all keys");
  describe_command->add_option("what", describe_arguments.what, "a name, a path, or 'keys'")->required();
  describe_command->add_option("--set", describe_arguments.settings, "set any key of the machine: key=value");
  describe_command->callback([&] { status = describe(describe_arguments); });

  BenchArguments bench_arguments;
  CLI::App* bench_command = app.add_subcommand("bench", "measure the simulator's own speed");
  bench_command->add_option("--hw", bench_arguments.hardware, "machine")->capture_default_str();
  bench_command->add_option("--net", bench_arguments.network, "layer")->capture_default_str();
  bench_command->add_option("--seconds", bench_arguments.seconds, "time per measurement")
      ->check(CLI::Range(0.01, 600.0))
      ->capture_default_str();
  bench_command->callback([&] { status = bench(bench_arguments); });

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    std::fprintf(stderr, "attnvp: %s; see attnvp --help\n", e.what());
    return kWrongUsage;
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return dispatch(argc, argv);
  } catch (const config::ConfigError& e) {
    std::fprintf(stderr, "attnvp: %s\n", e.what());
    return kWrongUsage;
  } catch (const job::RunError& e) {
    std::fprintf(stderr, "attnvp: %s\n", e.what());
    return kRunFailed;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "attnvp: this host has not enough memory for that layer or machine\n");
    return kRunFailed;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "attnvp: unexpected failure: %s\n", e.what());
    return kRunFailed;
  }
}

}  // namespace attnvp::cli
