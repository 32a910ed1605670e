// `attnvp run --check`: the commands of the run itself, examined at its end.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "mapping/check/checker.h"
#include "mapping/check/recorder.h"
#include "platform/job/command_tap.h"
#include "platform/job/job.h"
#include "platform/trace/session.h"

namespace attnvp::cli {

class RunCheck {
 public:
  RunCheck(job::Runner& runner, const config::Network& network, const job::Schedule& schedule);
  mapping::check::Report examine();

 private:
  mapping::Job job_;
  mapping::check::Trace trace_;
  mapping::check::Accesses accesses_;
  std::vector<std::unique_ptr<mapping::check::Recorder>> recorders_;
  std::unique_ptr<job::CommandTap> tap_;
  std::uint64_t result_bytes_;
};

// Of the commands that findings name; the findings by their places in the report.
std::vector<trace::Mark> marks_of(const mapping::check::Report& report);

}  // namespace attnvp::cli
