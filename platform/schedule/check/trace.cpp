#include "platform/schedule/check/trace.h"

#include <fmt/format.h>

#include <algorithm>

#include "platform/schedule/addresses.h"
#include "platform/schedule/check/progress.h"

namespace attnvp::schedule::check {

Trace::Trace(const MachineConfig& m) : machine_(m), events_(m.events.events) {
  events.resize(std::size_t{m.clusters} * events_);
  buffers.resize(m.clusters);
  for (std::uint32_t c = 0; c < m.clusters; ++c) {
    const MachineConfig own = m.with_cluster(c);
    first_lines_.push_back(static_cast<LineId>(lines.size()));
    channels_.push_back(own.dma.channels);
    TraceLine line;
    line.cluster = c;
    line.processor = true;
    lines.push_back(line);
    line.processor = false;
    for (std::uint32_t i = 0; i < 2 * m.cores; ++i) {
      line.queue = {i % 2 == 0 ? Unit::kMac : Unit::kVec, i / 2};
      const CoreConfig core = own.core(i / 2);
      line.depth = i % 2 == 0 ? core.mac.queue_depth : core.vec.queue_depth;
      lines.push_back(line);
    }
    for (std::uint32_t i = 0; i < own.dma.channels; ++i) {
      line.queue = {Unit::kDma, i};
      line.depth = own.dma.queue_depth;
      lines.push_back(line);
    }
  }
}

void Trace::update_memory() {
  const auto bytes_of = [](const auto& v) { return v.capacity() * sizeof v[0]; };
  std::uint64_t bytes = bytes_of(takes) + bytes_of(gives) + bytes_of(accesses) + bytes_of(descriptors) +
                        bytes_of(complaints) + bytes_of(bridges) + bytes_of(tags);
  for (const Complaint& c : complaints) bytes += c.text.capacity();
  for (const TraceLine& line : lines) bytes += bytes_of(line.steps) + bytes_of(line.commands);
  for (const TraceEvent& event : events) bytes += bytes_of(event.uses);
  share_.require(bytes);
}

LineId Trace::line_of(std::uint32_t cluster, const Queue& q) const {
  if (q.index >= (q.unit == Unit::kDma ? channels_[cluster] : machine_.cores)) return kNone;
  const std::uint32_t within =
      q.unit == Unit::kDma ? 2 * machine_.cores + q.index : 2 * q.index + (q.unit == Unit::kVec ? 1 : 0);
  return processor(cluster) + 1 + within;
}

std::string Trace::event_name(std::uint32_t event, std::uint32_t seen_from) const {
  const std::uint32_t cluster = event / events_;
  return fmt::format("{}e{}", cluster == seen_from ? "" : fmt::format("c{}.", cluster), event % events_);
}

std::string Trace::line_name(LineId line) const { return lines[line].processor ? "cpu" : name_of(lines[line].queue); }

void Trace::take(LineId line, TraceStep& step, std::uint32_t event, std::uint32_t tokens) {
  TraceEvent& e = events[event];
  const auto at = static_cast<std::size_t>(std::find(e.takers.begin(), e.takers.end(), line) - e.takers.begin());
  if (at == e.takers.size()) {
    e.takers.push_back(line);
    e.taken.push_back(0);
  }
  e.taken[at] += tokens;
  e.uses.push_back(
      {line, static_cast<std::uint32_t>(lines[line].steps.size()), static_cast<std::uint32_t>(takes.size()), tokens});
  e.all += tokens;
  if (!lines[line].processor && e.awaited_by == kNone) e.awaited_by = static_cast<std::uint32_t>(descriptors.size());
  takes.push_back({event, e.all, e.taken[at]});
  ++step.takes;
}

void Trace::settle() {
  const auto shared = [](const TraceEvent& e) { return e.takers.size() > 1; };
  if (std::none_of(events.begin(), events.end(), shared)) return;
  const Clocks clocks(*this, Tokens::kOwn);  // counts fewer tokens, so establishes less order
  for (std::uint32_t id = 0; id < events.size(); ++id) {
    TraceEvent& e = events[id];
    if (!shared(e)) continue;
    const TraceEvent::EventUse* contender = nullptr;
    for (std::size_t i = 1; i < e.uses.size() && contender == nullptr; ++i) {
      const TraceEvent::EventUse &a = e.uses[i - 1], &b = e.uses[i];
      const bool processor = lines[a.line].processor;  // blocks until it has taken; its next steps come after
      const bool in_order = a.line == b.line || (processor ? lines[b.line].steps[b.step].pushed > a.step
                                                           : clocks.after(b.line, b.step, a.line, a.step));
      if (!in_order) contender = &b;
    }
    if (contender == nullptr) continue;
    const TraceEvent::EventUse& a = *(contender - 1);
    complaints.push_back(
        {Complaint::ComplaintKind::kContended, contender->line, contender->step, 0, 0, line_name(a.line), id});
    for (const TraceEvent::EventUse& use : e.uses) takes[use.take].needed = takes[use.take].own;
  }
}

void Trace::give(LineId line, TraceStep& step, std::uint32_t event, std::uint32_t tokens) {
  TraceEvent& e = events[event];
  const auto at =
      static_cast<std::size_t>(std::find(e.signallers.begin(), e.signallers.end(), line) - e.signallers.begin());
  if (at == e.signallers.size()) {
    e.signallers.push_back(line);
    e.last.push_back(0);
  }
  e.last[at] = tokens;
  e.given += tokens;
  if (lines[line].processor) {
    e.given_by_processor += tokens;
  } else if (e.signalled_by == kNone) {
    e.signalled_by = static_cast<std::uint32_t>(descriptors.size());
  }
  gives.push_back({event, tokens});
  ++step.gives;
}

}  // namespace attnvp::schedule::check
