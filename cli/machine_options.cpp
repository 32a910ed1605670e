#include "cli/machine_options.h"

#include "cli/validators.h"
#include "models/registry.h"
#include "models/storage/host_memory.h"
#include "platform/config/error.h"
#include "platform/config/units.h"

namespace attnvp::cli {

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
  add_tuning_options(app, a.tuning_budget, a.no_cache);
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

void add_tuning_options(CLI::App& app, std::uint64_t& budget, bool& no_cache) {
  app.add_option("--tuning-budget", budget,
                 "evaluations for each dataflow whose tile sizes are chosen; 0: 160, with --tiling auto 400")
      ->check(whole_number());
  app.add_flag("--no-cache", no_cache, "choose tile sizes anew, and do not store them (see `attnvp cache`)");
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

void add_cycle_limit(CLI::App& command, std::uint64_t& most, const std::string& otherwise) {
  command
      .add_option("--max-cycles", most,
                  "give up when firmware has not ended after so many cycles (default: " + otherwise + ")")
      ->check(within(1, UINT64_MAX));
}

void add_energy_range(CLI::App& command, RunArguments& a) {
  command.add_flag(
      "--energy-range", a.energy_range,
      "energies with the low and the high end of their published ranges, and rankings that hold in all of it");
}

}  // namespace attnvp::cli
