// `attnvp schedule`: prints a dataflow's command stream for a layer and a machine, without simulation.
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/shared/job.h"
#include "cli/shared/progress.h"
#include "platform/base/files.h"
#include "platform/report/json.h"
#include "platform/report/table.h"
#include "platform/run/job.h"
#include "platform/schedule/counter.h"
#include "platform/schedule/demand.h"
#include "platform/schedule/printer.h"

namespace attnvp::cli {

namespace {

struct ScheduleArguments : JobArguments {
  std::string dataflow;
  std::uint64_t most = 100000;  // maximum number of lines
};

std::string header(const MachineConfig& machine, const workload::Workload& network, const job::Schedule& schedule,
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
      schedule.text, network.name(), machine.name, tiling, report::with_commas(c.commands),
      report::with_commas(c.mac.macs), bytes(c.dram.read), bytes(c.dram.written), l2, bytes(c.l1.read),
      bytes(c.l1.written), bytes(c.l1_peak_bytes), report::with_commas(static_cast<unsigned long long>(bound)));
}

nlohmann::ordered_json to_json(const schedule::ListingLine& l) {
  nlohmann::ordered_json j = {{"cluster", l.cluster}, {"queue", l.queue}, {"operation", l.operation}};
  if (l.queue != "cpu") j.update({{"number", l.number}, {"head", l.head}, {"row_block", l.row_block}});
  j.update({{"operands", l.operands}, {"waits", l.waits}, {"signals", l.signals}, {"l1_bytes", l.l1_bytes}});
  return j;
}

int schedule(const ScheduleArguments& a) {
  const Prepared p = prepare(a);
  const std::string dataflow = default_dataflow(a.dataflow, p.network, p.machine);
  files::Outputs outputs;
  files::Output* const file = outputs.open_or_stdout("--json", a.json);
  const job::Schedule chosen = tuned(p, dataflow, a);

  const schedule::Job made = job::make_job(p.machine, p.network, chosen);
  const schedule::Counts counts = schedule::count(made, p.machine);
  const double bound = schedule::least_cycles(made, p.machine);
  std::vector<schedule::ListingLine> lines;
  bool all = true;
  for (std::uint32_t c = 0; all && c < p.machine.clusters; ++c) all = schedule::print_stream(made, c, a.most, lines);

  std::string json;
  if (!a.json.empty()) {
    nlohmann::ordered_json j = document_of(p, chosen, a);
    j["bound_cycles"] = bound;
    j["commands"] = counts.commands;
    j["complete"] = all;
    j["stream"] = nlohmann::ordered_json::array();
    for (const schedule::ListingLine& line : lines) j["stream"].push_back(to_json(line));
    json = report::json_text(j);
  }
  if (file != nullptr) file->write(json, files::Form::kOwn);
  outputs.commit();
  if (a.json == "-") {
    print(json);
    return 0;
  }
  print(header(p.machine, p.network, chosen, counts, bound));
  std::uint32_t cluster = 0;
  for (const schedule::ListingLine& line : lines) {
    if (line.cluster != cluster) print(fmt::format("# cluster {}\n", cluster = line.cluster));
    print(schedule::to_text(line) + "\n");
  }
  if (!all) print(fmt::format("# ... the first {}; --most shows more\n", lines.size()));
  return 0;
}

}  // namespace

void add_schedule(CLI::App& app, int& status) {
  const auto a = std::make_shared<ScheduleArguments>();
  CLI::App& command = *app.add_subcommand(
      "schedule",
      "a dataflow's commands with their events, one line each, and what they add up to; nothing is simulated");
  add_job_options(command, *a);
  add_dataflow(command, a->dataflow, "dataflow, with its options: NAME or NAME:option=value,...");
  add_json(command, a->json, "write the commands as JSON to a file, or alone to stdout with '-'");
  command.add_option("--most", a->most, "lines at most")->check(whole_number())->capture_default_str();
  command.callback([a, &status] { status = schedule(*a); });
}

}  // namespace attnvp::cli
