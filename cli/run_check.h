// `attnvp run --check`: the commands of the run itself, examined at its end.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "platform/job/command_tap.h"
#include "platform/job/job.h"
#include "platform/schedule/check/checker.h"
#include "platform/schedule/check/recorder.h"
#include "platform/trace/session.h"

namespace attnvp::cli {

class RunCheck {
 public:
  RunCheck(job::Runner& runner, const config::Network& network, const job::Schedule& schedule);
  schedule::check::Report examine();

 private:
  schedule::Job job_;
  schedule::check::Trace trace_;
  schedule::check::Accesses accesses_;
  std::vector<std::unique_ptr<schedule::check::Recorder>> recorders_;
  std::unique_ptr<job::CommandTap> tap_;
  std::uint64_t result_bytes_;
};

// Of the commands that findings name; the findings by their places in the report.
std::vector<trace::Mark> marks_of(const schedule::check::Report& report);

}  // namespace attnvp::cli
