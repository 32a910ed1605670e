#include "cli/run_check.h"

#include "mapping/check/sources.h"
#include "platform/elaboration/platform.h"

namespace attnvp::cli {

using mapping::check::Recorder;

RunCheck::RunCheck(job::Runner& runner, const config::Network& network, const job::Schedule& schedule)
    : job_(job::make_job(runner.platform().machine(), network,
                         job::complete(runner.platform().machine(), network, schedule))),
      trace_(runner.platform().machine()),
      accesses_(runner.platform().machine()),
      result_bytes_(job::result_bytes(network, schedule)) {
  for (std::uint32_t c = 0; c < runner.platform().machine().clusters; ++c) {
    recorders_.push_back(std::make_unique<Recorder>(trace_, accesses_, c, Recorder::Levels::kFast));
  }
  tap_ = std::make_unique<job::CommandTap>(runner.platform(), job_,
                                           [this](std::uint32_t c) { return recorders_[c].get(); });
}

mapping::check::Report RunCheck::examine() {
  tap_.reset();
  for (const auto& recorder : recorders_) recorder->end();
  mapping::check::Report report = mapping::check::examine(job_, trace_, {result_bytes_});
  mapping::check::name_sources(report, job_, trace_.machine());
  return report;
}

}  // namespace attnvp::cli
