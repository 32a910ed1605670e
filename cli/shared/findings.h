// Checker findings as text, JSON and trace marks, and the check of a run's own commands (`run --check`).
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "platform/run/control/commands.h"
#include "platform/run/job.h"
#include "platform/schedule/check/checker.h"
#include "platform/schedule/check/recorder.h"
#include "platform/trace/session.h"

namespace attnvp::cli {

std::string findings_text(const schedule::check::Report& report, std::uint64_t most);
nlohmann::ordered_json findings_json(const schedule::check::Report& report, std::uint64_t most);
// Marks of the commands in findings, numbered by their index in the report.
std::vector<trace::Mark> marks_of(const schedule::check::Report& report);

class RunCheck {
 public:
  RunCheck(job::Runner& runner, const workload::Workload& network, const job::Schedule& schedule);
  schedule::check::Report examine();

 private:
  schedule::Job job_;
  schedule::check::Trace trace_;
  schedule::check::Accesses accesses_;
  std::vector<std::unique_ptr<schedule::check::TraceRecorder>> recorders_;
  std::unique_ptr<job::CommandTap> tap_;
  std::uint64_t result_bytes_;
};

}  // namespace attnvp::cli
