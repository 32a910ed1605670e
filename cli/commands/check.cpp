// `attnvp check`: checks a dataflow's command stream for timing dependence, without simulation.
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "cli/commands.h"
#include "cli/shared/findings.h"
#include "cli/shared/job.h"
#include "cli/shared/progress.h"
#include "platform/base/files.h"
#include "platform/report/json.h"
#include "platform/schedule/check/checker.h"

namespace attnvp::cli {

namespace {

struct CheckArguments : JobArguments {
  std::string dataflow;
  std::uint64_t most = 20;  // maximum number of findings
};

int check(const CheckArguments& a) {
  const Prepared p = prepare(a);
  const std::string dataflow = default_dataflow(a.dataflow, p.network, p.machine);
  files::Outputs outputs;
  files::Output* const file = outputs.open_or_stdout("--json", a.json);
  const job::Schedule chosen = tuned(p, dataflow, a);
  const schedule::check::Report report = [&] {
    const Waiting waiting("checking");
    const schedule::Job job = job::make_job(p.machine, p.network, chosen);
    schedule::check::Report found = schedule::check::check(job, p.machine, {job::result_bytes(p.network, chosen)});
    schedule::check::name_sources(found, job, p.machine);
    return found;
  }();

  nlohmann::ordered_json j = document_of(p, chosen, a);
  j["check"] = findings_json(report, a.most);
  const std::string json = report::json_text(j);
  if (file != nullptr) file->write(json, files::Form::kOwn);
  outputs.commit();
  const std::string text = fmt::format("{} on {}, {}:{}{}", chosen.text, p.network.name(), p.machine.name,
                                       report.findings.empty() ? " " : "\n", findings_text(report, a.most));
  print(a.json == "-" ? json : text);
  return report.findings.empty() ? 0 : 1;
}

}  // namespace

void add_check(CLI::App& app, int& status) {
  const auto a = std::make_shared<CheckArguments>();
  CLI::App& command = *app.add_subcommand(
      "check",
      "whether a dataflow's commands do the same whatever takes how long: races, waits without end, space that is not "
      "held or not written");
  add_job_options(command, *a);
  add_dataflow(command, a->dataflow, "dataflow, with its options: NAME or NAME:option=value,...");
  add_json(command, a->json, "write the findings as JSON to a file, or alone to stdout with '-'");
  command.add_option("--most", a->most, "findings at most")->check(whole_number())->capture_default_str();
  add_memory_limit(command);
  add_cycle_limit(command, *a, "ten billion of the control processor");
  command.callback([a, &status] { status = check(*a); });
}

}  // namespace attnvp::cli
