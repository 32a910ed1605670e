#include "cli/run_check.h"

#include <fmt/format.h>

#include "platform/elaboration/platform.h"
#include "platform/schedule/check/sources.h"

namespace attnvp::cli {

using schedule::check::Recorder;

RunCheck::RunCheck(job::Runner& runner, const config::Network& network, const job::Schedule& schedule)
    : job_(job::make_job(runner.platform().machine(), network, schedule)),
      trace_(runner.platform().machine()),
      accesses_(runner.platform().machine()),
      result_bytes_(job::result_bytes(network, schedule)) {
  for (std::uint32_t c = 0; c < runner.platform().machine().clusters; ++c) {
    recorders_.push_back(std::make_unique<Recorder>(trace_, accesses_, c, Recorder::Levels::kFast));
  }
  tap_ = std::make_unique<job::CommandTap>(runner.platform(), job_,
                                           [this](std::uint32_t c) { return recorders_[c].get(); });
}

schedule::check::Report RunCheck::examine() {
  tap_.reset();
  for (const auto& recorder : recorders_) recorder->end();
  schedule::check::Report report = schedule::check::examine(job_, trace_, {result_bytes_});
  schedule::check::name_sources(report, job_, trace_.machine());
  return report;
}

std::vector<trace::Mark> marks_of(const schedule::check::Report& report) {
  std::vector<trace::Mark> marks;
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    const schedule::check::Finding& f = report.findings[i];
    for (const schedule::check::Party& p : f.parties) {
      if (p.number == 0) continue;
      const bool dma = p.queue.compare(0, 3, "dma") == 0;
      const std::string module = dma ? "dma.channel" + p.queue.substr(3) : p.queue;
      marks.push_back({fmt::format("attnvp.cluster{}.{}", p.cluster, module), p.number, i + 1, to_text(f)});
    }
  }
  return marks;
}

}  // namespace attnvp::cli
