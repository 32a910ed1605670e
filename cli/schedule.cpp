// `attnvp schedule`: a dataflow's command stream on a layer and a machine, without simulating it.
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/chosen.h"
#include "cli/commands.h"
#include "cli/firmware.h"
#include "cli/progress.h"
#include "explore/tuning/tuner.h"
#include "platform/config/hardware.h"
#include "platform/files/outputs.h"
#include "platform/job/job.h"
#include "platform/report/json.h"
#include "platform/report/table.h"
#include "platform/schedule/counter.h"
#include "platform/schedule/demand.h"
#include "platform/schedule/printer.h"

namespace attnvp::cli {

namespace {

std::string header(const MachineConfig& machine, const config::Network& network, const job::Schedule& schedule,
                   const schedule::Counts& c, double bound) {
  std::string tiling;
  for (const auto& [name, value] : job::tiling_text(schedule.tiling)) tiling += fmt::format(" {}={}", name, value);
  const auto bytes = [](std::uint64_t n) { return report::with_prefix(static_cast<double>(n), "B"); };
  const std::string l2 =
      machine.has_l2() ? fmt::format("L2 {} read, {} written; ", bytes(c.l2.read), bytes(c.l2.written)) : "";
  return fmt::format(
      "# {} on {}, {}:{}\n"
      "# {} commands; {} multiply-accumulates; DRAM {} read, {} written; {}L1 {} read, {} written, {} at most in use\n"
      "# no run takes fewer than {} cycles\n",
      schedule.text, network.name, machine.name, tiling, report::with_commas(c.commands),
      report::with_commas(c.mac.macs), bytes(c.dram.read), bytes(c.dram.written), l2, bytes(c.l1.read),
      bytes(c.l1.written), bytes(c.l1_peak_bytes), report::with_commas(static_cast<unsigned long long>(bound)));
}

nlohmann::ordered_json to_json(const schedule::Line& l) {
  nlohmann::ordered_json j = {{"cluster", l.cluster}, {"queue", l.queue}, {"operation", l.operation}};
  if (l.queue != "cpu") j.update({{"number", l.number}, {"head", l.head}, {"row_block", l.row_block}});
  j.update({{"operands", l.operands}, {"waits", l.waits}, {"signals", l.signals}, {"l1_bytes", l.l1_bytes}});
  return j;
}

}  // namespace

Chosen read_job(const ScheduleArguments& a) {
  Chosen chosen;
  chosen.machine = config::load_hardware(a.hardware, a.settings);
  chosen.machine.simulation.max_cycles = a.max_cycles;
  const schedule::FirmwareImage& firmware = use_firmware(chosen.machine, a.firmware);
  chosen.network = config::load_network(a.network);
  chosen.schedule = job::parse_dataflow(default_dataflow(a.dataflow, chosen.network, chosen.machine), firmware);
  chosen.schedule.tiling = job::parse_tiling(a.tiling, firmware);
  return chosen;
}

job::Schedule tuned(const Chosen& asked, const ScheduleArguments& a) {
  explore::TuningOptions options;
  if (a.tuning_budget > 0) options.evaluations = a.tuning_budget;
  options.use_cache = !a.no_cache;
  return explore::tune(asked.machine, asked.network, asked.schedule, config::load_energy(asked.machine.energy),
                       options);
}

nlohmann::ordered_json document_of(const Chosen& c, const ScheduleArguments& a) {
  nlohmann::ordered_json j = report::json_document();
  j["hardware"] = c.machine.name;
  report::add_machine(j, config::machine_hash(c.machine), a.settings);
  j["network"] = c.network.name;
  j["dataflow"] = c.schedule.text;
  for (const auto& [name, value] : job::tiling_text(c.schedule.tiling)) j["tiling"][name] = value;
  return j;
}

int schedule(const ScheduleArguments& a) {
  Chosen asked = read_job(a);
  auto& [machine, network, chosen] = asked;
  files::Outputs outputs;
  files::Output* const file = outputs.open_or_stdout("--json", a.json);
  {
    const Waiting waiting("choosing tile sizes");
    chosen = tuned(asked, a);
  }

  const schedule::Job made = job::make_job(machine, network, chosen);
  const schedule::Counts counts = schedule::count(made, machine);
  const double bound = schedule::least_cycles(made, machine);
  std::vector<schedule::Line> lines;
  bool all = true;
  for (std::uint32_t c = 0; all && c < machine.clusters; ++c) all = schedule::print_stream(made, c, a.most, lines);

  std::string json;
  if (!a.json.empty()) {
    nlohmann::ordered_json j = document_of(asked, a);
    j["bound_cycles"] = bound;
    j["commands"] = counts.commands;
    j["complete"] = all;
    j["stream"] = nlohmann::ordered_json::array();
    for (const schedule::Line& line : lines) j["stream"].push_back(to_json(line));
    json = report::json_text(j);
  }
  if (file != nullptr) file->write(json, files::Form::kOwn);
  outputs.commit();
  if (a.json == "-") {
    std::fputs(json.c_str(), stdout);
    return 0;
  }
  std::fputs(header(machine, network, chosen, counts, bound).c_str(), stdout);
  std::uint32_t cluster = 0;
  for (const schedule::Line& line : lines) {
    if (line.cluster != cluster) std::fputs(fmt::format("# cluster {}\n", cluster = line.cluster).c_str(), stdout);
    std::fputs((schedule::to_text(line) + "\n").c_str(), stdout);
  }
  if (!all) std::fputs(fmt::format("# ... the first {}; --most shows more\n", lines.size()).c_str(), stdout);
  return 0;
}

}  // namespace attnvp::cli
