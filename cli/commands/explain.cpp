// `attnvp explain`: the critical path of an interval of a run.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/shared/job.h"
#include "cli/shared/progress.h"
#include "platform/base/files.h"
#include "platform/base/text.h"
#include "platform/machine/error.h"
#include "platform/machine/hardware.h"
#include "platform/machine/provenance.h"
#include "platform/report/json.h"
#include "platform/run/job.h"
#include "platform/run/platform.h"
#include "platform/trace/critical_path.h"
#include "platform/workload/workload.h"

namespace attnvp::cli {

namespace {

struct ExplainArguments : JobArguments {
  std::string dataflow;
  std::uint64_t from = 0, to = UINT64_MAX;  // cycles
  std::uint64_t steps = 40;
};

int explain_path(const ExplainArguments& a) {
  const Prepared p = prepare(a);
  workload::refuse_scope(p.network);
  if (a.from >= a.to) {
    throw config::ConfigError(fmt::format("--from is cycle {}, --to cycle {}; allowed is a later --to", a.from, a.to));
  }
  const job::Schedule schedule = tuned(p, default_dataflow(a.dataflow, p.network, p.machine), a);
  config::note_machine(p.machine, a.settings);
  files::Outputs outputs;
  files::Output* const json_file = outputs.open_or_stdout("--json", a.json);
  CommandTrace trace;
  job::Runner runner(p.machine, p.energy, false);
  Context& context = runner.platform().context();
  context.command_trace = &trace;
  const job::RunResult result = runner.run(p.network, schedule, nullptr, {});
  context.command_trace = nullptr;
  if (a.from >= result.cycles) {
    throw config::ConfigError(
        fmt::format("--from is cycle {}; allowed is less than the run's {}", a.from, result.cycles));
  }
  const trace::CriticalPath path =
      trace::critical_path(trace, context.signallers, a.from, std::min(a.to, result.cycles), result.cycles);
  nlohmann::ordered_json document = document_of(p, schedule, a);
  document["cycles"] = result.cycles;
  document["critical_path"] = trace::to_json(path, trace, a.steps);
  const std::string json = report::json_text(document);
  if (json_file != nullptr) json_file->write(json, files::Form::kOwn);
  outputs.commit();
  print(a.json == "-" ? json : trace::to_text(path, trace, a.steps));
  return 0;
}

}  // namespace

void add_explain(CLI::App& app, int& status) {
  const auto a = std::make_shared<ExplainArguments>();
  a->data = "timing";
  CLI::App& command =
      *app.add_subcommand("explain", "the chain of commands and waits that an interval of a run consists of");
  add_job_options(command, *a);
  add_dataflow(command, a->dataflow, "dataflow[:option=value,...], see `attnvp list dataflows`");
  command.add_option("--from", a->from, "begin of the interval [cycles]")->check(whole_number())->capture_default_str();
  command.add_option("--to", a->to, "end of the interval [cycles] (default: the end of the run)")
      ->check(whole_number());
  command.add_option("--steps", a->steps, "list at most so many steps, the last ones")
      ->check(within(1, 100000))
      ->capture_default_str();
  add_json(command, a->json);
  add_memory_limit(command);
  command.callback([a, &status] { status = explain_path(*a); });
}

}  // namespace attnvp::cli
