// `attnvp check`: whether a dataflow's command stream does the same on every run, without simulating it.
#include <fmt/format.h>

#include <cstdio>

#include "cli/check_report.h"
#include "cli/chosen.h"
#include "cli/commands.h"
#include "cli/firmware.h"
#include "cli/progress.h"
#include "platform/config/hardware.h"
#include "platform/files/outputs.h"
#include "platform/job/job.h"
#include "platform/report/json.h"
#include "platform/schedule/check/checker.h"
#include "platform/schedule/check/sources.h"

namespace attnvp::cli {

int check(const ScheduleArguments& a) {
  Chosen asked = read_job(a);
  const MachineConfig& machine = asked.machine;
  const config::Network& network = asked.network;
  job::Schedule& chosen = asked.schedule;
  files::Outputs outputs;
  files::Output* const file = outputs.open_or_stdout("--json", a.json);
  {
    const Waiting waiting("choosing tile sizes");
    chosen = tuned(asked, a);
  }
  const schedule::check::Report report = [&] {
    const Waiting waiting("checking");
    const schedule::Job job = job::make_job(machine, network, chosen);
    schedule::check::Report found = schedule::check::check(job, machine, {job::result_bytes(network, chosen)});
    schedule::check::name_sources(found, job, machine);
    return found;
  }();

  nlohmann::ordered_json j = document_of(asked, a);
  j["check"] = findings_json(report, a.most);
  const std::string json = report::json_text(j);
  if (file != nullptr) file->write(json, files::Form::kOwn);
  outputs.commit();
  if (a.json == "-") {
    std::fputs(json.c_str(), stdout);
  } else {
    std::fputs(
        fmt::format("{} on {}, {}: {}", chosen.text, network.name, machine.name, findings_text(report, a.most)).c_str(),
        stdout);
  }
  return report.findings.empty() ? 0 : 1;
}

}  // namespace attnvp::cli
