#include "platform/schedule/check/recorder.h"

#include <fmt/format.h>

#include <utility>

#include "firmware/hal/registers.h"
#include "firmware/runtime/l1_region.h"

namespace attnvp::schedule::check {

namespace {
constexpr std::size_t kBetween = 1U << 14;  // steps or complaints between checks of memory use
}

Recorder::Recorder(Trace& trace, Accesses& accesses, std::uint32_t cluster, Levels levels)
    : trace_(trace), accesses_(accesses), cluster_(cluster), levels_(levels) {}

TraceStep Recorder::processor_step(TraceStep::Kind kind) const {
  TraceStep step;
  step.kind = kind;
  step.first_take = static_cast<std::uint32_t>(trace_.takes.size());
  step.first_give = static_cast<std::uint32_t>(trace_.gives.size());
  step.first_access = static_cast<std::uint32_t>(trace_.accesses.size());
  return step;
}

void Recorder::add_processor_step(const TraceStep& step) {
  const LineId line = trace_.processor(cluster_);
  trace_.lines[line].steps.push_back(step);
  if (trace_.lines[line].steps.size() % kBetween == 0) trace_.account();
}

void Recorder::complain(Complaint::Kind kind, LineId line, std::uint64_t low, std::uint64_t high, std::string text) {
  const auto step = static_cast<std::uint32_t>(trace_.lines[line].steps.size());
  trace_.complaints.push_back({kind, line, step, low, high, std::move(text)});
  if (trace_.complaints.size() % kBetween == 0) trace_.account();
}

void Recorder::add_events(LineId line, const hal::Descriptor& d, TraceStep& step) {
  const std::uint32_t events = trace_.machine().events.events;
  for (const hal::EventRef& w : d.wait) {
    for (std::uint32_t e = w.first(); w.tokens() > 0 && e < w.first() + w.span() && e < events; ++e) {
      trace_.take(line, step, trace_.event_of(cluster_, e), w.tokens());
    }
  }
  for (int i = 0; i < hal::kSignals; ++i) {
    const hal::EventRef& s = d.signal[i];
    if (s.tokens() == 0) continue;
    const bool remote = i + 1 == hal::kSignals && d.remote > 0 && d.remote <= trace_.machine().clusters;
    const std::uint32_t cluster = remote ? d.remote - 1 : cluster_;
    if (cluster != cluster_) trace_.bridges.emplace_back(cluster_, cluster);
    for (std::uint32_t e = s.first(); e < s.first() + s.span() && e < events; ++e) {
      trace_.give(line, step, trace_.event_of(cluster, e), s.tokens());
    }
  }
}

// Accesses to the cluster's own L1 must lie within one allocated buffer, if the buffers are known.
void Recorder::check_space(LineId line, const TraceStep& step) {
  const std::vector<Buffer>& buffers = trace_.buffers[cluster_];
  const std::uint64_t base = hal::l1_base(cluster_);
  for (std::uint32_t i = step.first_access; i < step.first_access + step.accesses; ++i) {
    const Access& a = trace_.accesses[i];
    const std::uint64_t low = a.region.address, high = a.region.end();
    if (low < hal::kL1Base) continue;
    if (low - base >= hal::kL1Stride) {
      trace_.foreign_l1 = true;
      trace_.bridges.emplace_back(cluster_, static_cast<std::uint32_t>((low - hal::kL1Base) / hal::kL1Stride));
      continue;
    }
    if (!stacked_ || buffers.empty()) continue;
    const Buffer* in = nullptr;
    for (auto b = buffers.rbegin(); b != buffers.rend() && in == nullptr; ++b) in = b->low <= low ? &*b : nullptr;
    if (in != nullptr && high <= in->high) continue;
    const bool held = high <= base + held_;
    complain(Complaint::Kind::kOutside, line, low, high,
             held ? "crosses from one buffer into the next" : "lies beyond what firmware holds of L1");
  }
}

void Recorder::command(const Queue& queue, const hal::Descriptor& d) {
  const LineId line = trace_.line_of(cluster_, queue);
  if (line == kNone) {
    return complain(Complaint::Kind::kRefused, trace_.processor(cluster_), 0, 0, "there is no such queue");
  }
  if (std::exchange(first_, false)) held_at_first_ = held_;
  TraceStep push = processor_step(TraceStep::Kind::kPush);
  push.to = line;
  TraceStep step = processor_step(TraceStep::Kind::kCommand);
  step.pushed = static_cast<std::uint32_t>(trace_.lines[trace_.processor(cluster_)].steps.size());
  const Refusal refusal = accesses_.of(cluster_, queue, d, step, trace_.accesses);
  if (refusal.any()) {
    trace_.accesses.resize(step.first_access);
    complain(Complaint::Kind::kRefused, line, refusal.address, refusal.address, refusal.detail);
  }
  step.accesses = static_cast<std::uint32_t>(trace_.accesses.size()) - step.first_access;
  add_events(line, d, step);
  check_space(line, step);
  trace_.lines[line].commands.push_back(static_cast<std::uint32_t>(trace_.descriptors.size()));
  trace_.descriptors.push_back(d);
  trace_.lines[line].steps.push_back(step);
  add_processor_step(push);
}

void Recorder::replace(const Queue& queue, const hal::Descriptor& /*descriptor*/) {
  const LineId line = trace_.line_of(cluster_, queue);
  complain(Complaint::Kind::kHalted, line == kNone ? trace_.processor(cluster_) : line, 0, 0,
           "the processor halts an engine and gives it other commands, which the checker does not follow");
}

void Recorder::give(std::uint32_t event, std::uint32_t tokens) {
  if (!has(event)) return;
  TraceStep step = processor_step(TraceStep::Kind::kGive);
  trace_.give(trace_.processor(cluster_), step, trace_.event_of(cluster_, event), tokens);
  add_processor_step(step);
}

void Recorder::take(std::uint32_t event, std::uint32_t tokens) {
  if (!has(event)) return;
  TraceStep step = processor_step(TraceStep::Kind::kTake);
  trace_.take(trace_.processor(cluster_), step, trace_.event_of(cluster_, event), tokens);
  add_processor_step(step);
}

bool Recorder::has(std::uint32_t event) {
  if (event < trace_.machine().events.events) return true;
  complain(Complaint::Kind::kRefused, trace_.processor(cluster_), 0, 0,
           fmt::format("the processor names event {}, which the event unit does not have", event));
  return false;
}

// A tag gives the purpose of the next allocation; a release without tag frees the newest buffer. A release with a tag
// makes addresses unknown.
void Recorder::allocated(std::uint64_t bytes) {
  std::vector<Buffer>& buffers = trace_.buffers[cluster_];
  const std::uint64_t base = hal::l1_base(cluster_), before = held_;
  held_ = bytes;
  if (bytes < before && tag_ != static_cast<std::uint32_t>(firmware::L1Region::kOther)) stacked_ = false;
  if (!stacked_) return;
  if (bytes > before) {
    buffers.push_back({base + before, base + bytes, tag_});
    trace_.tags.push_back(buffers.back());
  } else if (bytes < before) {
    while (!buffers.empty() && buffers.back().high > base + bytes) {
      buffers.back().high = base + bytes;
      if (buffers.back().low >= buffers.back().high)
        buffers.pop_back();
      else
        break;
    }
    TraceStep step = processor_step(TraceStep::Kind::kSpace);
    step.low = base + bytes;
    step.high = base + before;
    add_processor_step(step);
  }
}

std::uint32_t Recorder::level(const Queue& queue) {
  const LineId line = trace_.line_of(cluster_, queue);
  asked_ = true;
  if (line == kNone) return 0;
  if (levels_ == Levels::kFull) return trace_.lines[line].depth;
  if (progress_ == nullptr) progress_ = std::make_unique<Progress>(trace_, Progress::Queues::kAsDeep);
  progress_->wake(trace_.processor(cluster_));
  progress_->run();
  progress_->begun.clear();
  // The commands of other clusters are unknown here; after a wait for them, queues are reported as full.
  const LineId processor = trace_.processor(cluster_);
  const std::uint32_t at = progress_->taken(processor);
  const std::vector<TraceStep>& steps = trace_.lines[processor].steps;
  if (at < steps.size() && steps[at].kind == TraceStep::Kind::kTake) return trace_.lines[line].depth;
  return progress_->level(line);
}

void Recorder::end() { add_processor_step(processor_step(TraceStep::Kind::kEnd)); }

}  // namespace attnvp::schedule::check
