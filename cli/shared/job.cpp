#include "cli/shared/job.h"

#include <fmt/format.h>

#include "cli/shared/progress.h"
#include "firmware/runtime/dataflow.h"
#include "models/control/config.h"
#include "models/registry.h"
#include "platform/base/text.h"
#include "platform/machine/error.h"
#include "platform/machine/hardware.h"
#include "platform/machine/provenance.h"
#include "platform/report/json.h"
#include "platform/report/table.h"

namespace attnvp::cli {

namespace {

std::string options_text(const firmware::Dataflow& dataflow) {
  std::string text;
  for (const firmware::DataflowOption* o = dataflow.options; o != nullptr && o->name != nullptr; ++o) {
    std::string values;
    for (const char* const* v = o->values; *v != nullptr; ++v) values += (values.empty() ? "" : "|") + std::string(*v);
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", o->name, values);
  }
  return text;
}

}  // namespace

void add_job_options(CLI::App& command, JobArguments& a) {
  add_hardware(command, a.hardware);
  add_network(command, a.network);
  add_settings(command, a.settings);
  add_text(
      command, "--tiling", a.tiling,
      "tile sizes: a name under configs/tilings, a file, nq=64,nkv=128,... (what is not given is chosen), or auto: "
      "searched");
  command
      .add_option("--tuning-budget", a.tuning_budget,
                  "evaluations for each dataflow whose tile sizes are chosen; 0: 160, with --tiling auto 400")
      ->check(whole_number());
  command.add_flag("--no-cache", a.no_cache, "choose tile sizes anew, and do not store them (see `attnvp cache`)");
  add_text(command, "--firmware", a.firmware, "an ELF file that the control processors run, of kind riscv then");
}

void add_simulation_options(CLI::App& command, JobArguments& a) {
  add_text(command, "--requests", a.requests,
           "the layer for a batch of requests: a CSV file with new_tokens, cached_tokens and, for a cache of pages "
           "(page=16), block_table");
  command
      .add_option("--data", a.data, "full moves, computes and checks tensors; timing gives the same cycles and counts")
      ->check(one_of({"full", "timing"}))
      ->capture_default_str();
  command.add_option("--vec", a.vec, "the VEC engines' kind, in place of the machine's")
      ->check(one_of(kind_names("vec")));
  command.add_option("--cpu", a.cpu, "the control processors' kind, in place of the machine's")
      ->check(one_of(kind_names("control")));
  add_seed(command, a.seed);
  add_json(command, a.json, "write the report as JSON to a file, or alone to stdout with '-'");
  add_memory_limit(command);
}

CLI::Option* add_dataflow(CLI::App& command, std::string& dataflow, const char* meaning) {
  return add_text(command, "--dataflow", dataflow, meaning)->default_str("mas");
}

CLI::Option* add_energy_range(CLI::App& command, JobArguments& a) {
  return command.add_flag(
      "--energy-range", a.energy_range,
      "energies with the low and the high end of their published ranges, and rankings that hold in all of it");
}

CLI::Option* add_cycle_limit(CLI::App& command, JobArguments& a, const std::string& otherwise) {
  return command
      .add_option("--max-cycles", a.max_cycles,
                  "give up when firmware has not ended after so many cycles (default: " + otherwise + ")")
      ->check(within(1, UINT64_MAX));
}

Prepared prepare(const JobArguments& a) {
  Prepared p;
  p.machine = config::load_hardware(a.hardware, a.settings);
  p.machine.simulation.max_cycles = a.max_cycles;
  const auto choose = [&p](const char* option, const std::string& kind, std::string& place) {
    if (kind.empty()) return;
    place = kind;
    config::check_machine(p.machine, {fmt::format("{} {}", option, kind)});
  };
  choose("--vec", a.vec, p.machine.vec.kind);
  choose("--cpu", a.cpu, p.machine.control.cpu);
  const schedule::FirmwareImage& firmware = use_firmware(p.machine, a.firmware);
  p.network = a.requests.empty() ? workload::load(a.network) : workload::load(a.network, a.requests);
  p.energy = config::load_energy(p.machine.energy);
  if (a.tiling != "auto") p.tiling = job::parse_tiling(a.tiling, firmware);
  p.full = a.data == "full";
  return p;
}

unsigned kind_of(const workload::Workload& n) {
  if (n.scope != workload::Scope::kAttention) return kLayers;
  if (n.is_attention()) return kAttention;
  return n.gemm() != nullptr ? kGemm : kRowOperation;
}

const schedule::FirmwareImage& use_firmware(MachineConfig& machine, const std::string& elf) {
  if (!elf.empty()) {
    machine.control.cpu = "riscv";
    machine.own<RiscvConfig>().firmware = elf;
    config::check_machine(machine, {"--firmware"});
  }
  return schedule::firmware_of(machine);
}

explore::TuningOptions tuning_options(const JobArguments& a) {
  explore::TuningOptions options;
  if (a.tiling == "auto") options.search_longer();
  if (a.tuning_budget > 0) options.evaluations = a.tuning_budget;
  options.use_cache = !a.no_cache;
  return options;
}

std::string default_dataflow(const std::string& asked, const workload::Workload& network,
                             const MachineConfig& machine) {
  if (!asked.empty()) return asked;
  const schedule::FirmwareImage& firmware = schedule::firmware_of(machine);
  const auto fit = job::dataflows_for(network, firmware);
  if (!network.is_attention() && !fit.empty()) return fit.front()->name;
  return firmware.find("mas") != nullptr ? "mas" : firmware.dataflows().front()->name;
}

job::Schedule tuned(const MachineConfig& machine, const workload::Workload& network, const config::EnergyTable& energy,
                    const std::string& dataflow, const job::Tiling& tiling, const explore::TuningOptions& options) {
  job::Schedule schedule = job::parse_dataflow(dataflow, schedule::firmware_of(machine));
  schedule.tiling = tiling;
  return explore::tune({machine, network, schedule, energy}, options);
}

job::Schedule tuned(const Prepared& p, const std::string& dataflow, const JobArguments& a) {
  const Waiting waiting("choosing tile sizes");
  return tuned(p.machine, p.network, p.energy, dataflow, p.tiling, tuning_options(a));
}

nlohmann::ordered_json document_of(const Prepared& p, const job::Schedule& schedule, const JobArguments& a) {
  nlohmann::ordered_json j = report::json_document();
  j["hardware"] = p.machine.name;
  report::add_machine(j, config::machine_hash(p.machine), a.settings);
  j["network"] = p.network.name();
  j["dataflow"] = schedule.text;
  for (const auto& [name, value] : job::tiling_text(schedule.tiling)) j["tiling"][name] = value;
  return j;
}

int exit_status(const job::RunResult& r) {
  if (!r.golden_checked || r.golden.passed) return 0;
  text::complain(fmt::format("{}: golden check failed: {}", r.schedule.text, r.golden.to_string()));
  return 1;
}

std::string dataflow_table(const schedule::FirmwareImage& firmware) {
  report::Table table;
  table.column("dataflow", report::Table::Align::kLeft);
  table.column("options", report::Table::Align::kLeft);
  table.column("description", report::Table::Align::kLeft);
  for (const firmware::Dataflow* d : firmware.dataflows()) {
    table.row({d->name, options_text(*d), d->description});
  }
  return table.text(text::line_width());
}

}  // namespace attnvp::cli
