// `attnvp profile`: latency tables of a model for simulators of serving.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/shared/job.h"
#include "cli/shared/progress.h"
#include "explore/layers/layers.h"
#include "platform/base/files.h"
#include "platform/base/origin.h"
#include "platform/base/text.h"
#include "platform/machine/error.h"
#include "platform/machine/hardware.h"

namespace attnvp::cli {

namespace {

struct ProfileArguments {
  std::string hardware = "edge", network = "llama3.1-8b", dataflow, folder;
  std::vector<std::string> settings;
  explore::ServingGrid grid;
  unsigned jobs = 0;
  bool no_cache = false;
};

int profile(const ProfileArguments& a) {
  const MachineConfig machine = config::load_hardware(a.hardware, a.settings);
  const config::EnergyTable energy = config::load_energy(machine.energy);
  explore::ServingOptions options;
  options.tuning.use_cache = !a.no_cache;
  options.jobs = a.jobs;
  options.dataflow =
      a.dataflow == "auto" ? a.dataflow : default_dataflow(a.dataflow, workload::load(a.network + ",N=16"), machine);
  std::vector<explore::ServingTable> tables;
  {
    ProgressBar bar;
    options.progress = [&bar](std::size_t done, std::size_t all) { bar.update(done, all, ""); };
    tables = explore::serving_tables(machine, a.network, energy, a.grid, options);
  }
  config::note_machine(machine, a.settings);
  files::Outputs outputs;
  std::string written;
  for (const explore::ServingTable& t : tables) {
    const std::filesystem::path path = std::filesystem::path(a.folder) / t.path;
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);  // open() reports a missing folder
    outputs.open("--csv", path.string())->write(t.text, files::Form::kOwn);
    written += fmt::format("{}\n", text::printable(path.string()));
  }
  outputs.commit();
  print(written);
  return 0;
}

}  // namespace

void add_profile(CLI::App& app, int& status) {
  const auto a = std::make_shared<ProfileArguments>();
  CLI::App& command = *app.add_subcommand("profile", "latency tables of a model for LLMServingSim and Vidur");
  add_hardware(command, a->hardware);
  add_network(command, a->network);
  add_dataflow(command, a->dataflow, "dataflow[:option=value,...] of attention, or auto");
  add_settings(command, a->settings);
  add_text(command, "--csv", a->folder, "folder for the tables")->required();
  const auto number = [&](const char* name, std::uint32_t& field, const char* meaning, std::uint64_t most) {
    command.add_option(name, field, meaning)->check(within(1, most))->capture_default_str();
  };
  number("--max-tokens", a->grid.tokens, "most new tokens of a step", 1 << 20);
  number("--max-cache", a->grid.cache, "most tokens in the cache of a sequence", 1 << 20);
  number("--max-batch", a->grid.batch, "most sequences in decode", 1024);
  unquoted(command.add_option("--jobs,-j", a->jobs, "processes; 0: as many as the host has processors"))
      ->check(within(0, 1024))
      ->capture_default_str();
  command.add_flag("--no-cache", a->no_cache, "choose tile sizes anew, and do not store them (see `attnvp cache`)");
  add_memory_limit(command);
  command.callback([a, &status] { status = profile(*a); });
}

}  // namespace attnvp::cli
