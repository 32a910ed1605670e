#include "cli/shared/findings.h"

#include <fmt/format.h>

#include <algorithm>

#include "platform/report/table.h"
#include "platform/run/platform.h"
#include "platform/schedule/check/checker.h"

namespace attnvp::cli {

namespace {

using schedule::check::Finding;
using schedule::check::Party;
using schedule::check::Report;
using schedule::check::TraceRecorder;

nlohmann::ordered_json to_json(const Party& p) {
  nlohmann::ordered_json j = {{"cluster", p.cluster}, {"queue", p.queue}};
  if (p.number > 0)
    j.update({{"number", p.number}, {"operation", p.operation}, {"head", p.head}, {"row_block", p.row_block}});
  if (!p.source.empty()) j["source"] = p.source;
  if (!p.step.empty()) j["step"] = p.step;
  if (!p.access.empty()) j["access"] = p.access;
  if (!p.place.empty()) j["place"] = p.place;
  return j;
}

nlohmann::ordered_json to_json(const Finding& f) {
  nlohmann::ordered_json j = {{"kind", to_string(f.kind)}, {"meaning", meaning(f.kind)}};
  j["commands"] = nlohmann::ordered_json::array();
  for (const Party& p : f.parties) j["commands"].push_back(to_json(p));
  if (f.high > f.low) j["addresses"] = {{"first", f.low}, {"end", f.high}};
  if (!f.event.empty()) j["event"] = f.event;
  j["detail"] = f.detail;
  j["alike"] = f.alike;
  j["text"] = to_text(f);
  return j;
}

}  // namespace

std::string findings_text(const Report& r, std::uint64_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(r.findings.size(), most); ++i) {
    text += fmt::format("{}. {}\n", i + 1, to_text(r.findings[i]));
  }
  if (r.findings.size() > most) text += fmt::format("... {} more; --most shows them\n", r.findings.size() - most);
  const std::string found = r.findings.empty() ? "nothing found" : report::counted(r.findings.size(), "finding");
  return text + fmt::format("{} in {} commands\n", found, report::with_commas(r.commands));
}

nlohmann::ordered_json findings_json(const Report& r, std::uint64_t most) {
  nlohmann::ordered_json j = {{"commands", r.commands}, {"l1_held_bytes", r.held_at_end}, {"found", r.findings.size()}};
  j["findings"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < std::min<std::size_t>(r.findings.size(), most); ++i)
    j["findings"].push_back(to_json(r.findings[i]));
  return j;
}

RunCheck::RunCheck(job::Runner& runner, const workload::Workload& network, const job::Schedule& schedule)
    : job_(job::make_job(runner.platform().machine(), network, schedule)),
      trace_(runner.platform().machine()),
      accesses_(runner.platform().machine()),
      result_bytes_(job::result_bytes(network, schedule)) {
  for (std::uint32_t c = 0; c < runner.platform().machine().clusters; ++c) {
    recorders_.push_back(std::make_unique<TraceRecorder>(trace_, accesses_, c, TraceRecorder::Levels::kFast));
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
