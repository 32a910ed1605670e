#include "platform/schedule/check/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "platform/schedule/bus.h"

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

Progress::Progress(const Trace& trace, Queues queues, Tokens tokens) : trace_(trace), queues_(queues), tokens_(tokens) {
  const std::size_t lines = trace.lines.size();
  taken_.assign(lines, 0);
  done_ = pushed_ = taken_;
  given_.assign(trace.events.size(), 0);
  waiting_.assign(trace.events.size(), kNone);
  next_waiting_.assign(lines, kNone);
  waits_.assign(lines, 0);
  queued_ = full_ = waits_;
}

void Progress::begin(const std::vector<std::uint32_t>& clusters) {
  for (const std::uint32_t c : clusters) wake(trace_.processor(c));
  run();
}

void Progress::hold(LineId line, std::uint32_t steps) {
  held_ = line;
  held_at_ = steps;
  complete(line);
  wake(line);
}

void Progress::wake(LineId line) {
  if (queued_[line] != 0) return;
  queued_[line] = 1;
  work_.push_back(line);
}

void Progress::run() {
  while (!work_.empty()) {
    const LineId line = work_.back();
    work_.pop_back();
    queued_[line] = 0;
    advance(line);
  }
}

bool Progress::may_begin(LineId id) {
  const TraceLine& line = trace_.lines[id];
  const std::uint32_t at = taken_[id];
  if (at == line.steps.size() || waits_[id] != 0) return false;
  const TraceStep& s = line.steps[at];
  if (line.processor) {
    if (s.to != kNone && queues_ == Queues::kAsDeep && level(s.to) >= trace_.lines[s.to].depth) {
      full_[s.to] = 1;
      return false;
    }
  } else if (at >= pushed_[id]) {
    return false;
  }
  const bool in_turn = s.after_previous || (at > 0 && line.steps[at - 1].holds_next);
  if (in_turn && done_[id] < at) return false;
  for (std::uint32_t i = s.first_take; i < s.first_take + s.takes; ++i) {
    const Take& t = trace_.takes[i];
    if (given_[t.event] >= (tokens_ == Tokens::kAll ? t.needed : t.own)) continue;
    next_waiting_[id] = waiting_[t.event];
    waiting_[t.event] = id;
    waits_[id] = 1;
    return false;
  }
  return true;
}

void Progress::complete(LineId id) {
  const TraceLine& line = trace_.lines[id];
  const std::uint32_t end = id == held_ && held_at_ < taken_[id] ? held_at_ : taken_[id];
  for (; done_[id] < end; ++done_[id]) {
    const TraceStep& s = line.steps[done_[id]];
    for (std::uint32_t i = s.first_give; i < s.first_give + s.gives; ++i) {
      const Give& g = trace_.gives[i];
      given_[g.event] += g.tokens;
      LineId waits = waiting_[g.event];
      waiting_[g.event] = kNone;
      while (waits != kNone) {
        const LineId next = next_waiting_[waits];
        waits_[waits] = 0;
        wake(waits);
        waits = next;
      }
    }
  }
}

void Progress::advance(LineId id) {
  const TraceLine& line = trace_.lines[id];
  while (may_begin(id)) {
    const TraceStep& s = line.steps[taken_[id]];
    begun.emplace_back(id, taken_[id]);
    ++taken_[id];
    if (s.to != kNone) {
      ++pushed_[s.to];
      wake(s.to);
    }
    if (full_[id] != 0) {
      full_[id] = 0;
      wake(trace_.processor(line.cluster));
    }
    complete(id);
  }
}

namespace {

// Groups of clusters that exchange tokens or write to each other's L1.
std::vector<std::vector<std::uint32_t>> groups_of(const Trace& trace) {
  std::vector<std::uint32_t> root(trace.machine().clusters);
  std::iota(root.begin(), root.end(), 0U);
  const auto find = [&](std::uint32_t c) {
    while (root[c] != c) c = root[c] = root[root[c]];
    return c;
  };
  for (const auto& [a, b] : trace.bridges) root[find(a)] = find(b);
  std::vector<std::vector<std::uint32_t>> groups(root.size());
  for (std::uint32_t c = 0; c < root.size(); ++c) groups[find(c)].push_back(c);
  return groups;
}

bool is_dma(const TraceLine& line) { return !line.processor && line.queue.unit == Unit::kDma; }

}  // namespace

Clocks::Clocks(const Trace& trace, Tokens tokens) : lines_(trace.lines.size()) {
  column_.assign(lines_ * lines_, kNone);
  columns_.assign(lines_, 0);
  clock_.resize(lines_);
  for (const std::vector<std::uint32_t>& clusters : groups_of(trace)) {
    std::vector<LineId> members;
    for (LineId l = 0; l < lines_; ++l) {
      for (const std::uint32_t c : clusters) {
        if (trace.lines[l].cluster == c) members.push_back(l);
      }
    }
    // Only pairs that can access the same memory: engines of a cluster, and copies.
    for (const LineId l : members) {
      for (const LineId other : members) {
        const TraceLine &a = trace.lines[l], &b = trace.lines[other];
        const bool meet = a.cluster == b.cluster || (is_dma(b) && (is_dma(a) || trace.foreign_l1));
        if (b.processor || b.steps.empty() || !meet) continue;
        column_[std::size_t{l} * lines_ + other] = columns_[l]++;
      }
      clock_[l].assign(trace.lines[l].steps.size() * columns_[l], 0);
    }
    for (const LineId held : members) {
      if (!trace.lines[held].processor && !trace.lines[held].steps.empty()) sweep(trace, clusters, held, tokens);
    }
  }
}

void Clocks::sweep(const Trace& trace, const std::vector<std::uint32_t>& clusters, LineId held, Tokens tokens) {
  Progress progress(trace, Progress::Queues::kEndless, tokens);
  const auto steps = static_cast<std::uint32_t>(trace.lines[held].steps.size());
  for (std::uint32_t at = 0; at <= steps; ++at) {
    progress.hold(held, at);
    if (at == 0) progress.begin(clusters);
    progress.run();
    for (const auto& [line, step] : progress.begun) {
      const std::uint32_t column = column_[std::size_t{line} * lines_ + held];
      if (column != kNone) clock_[line][std::size_t{step} * columns_[line] + column] = at;
    }
    progress.begun.clear();
  }
}

}  // namespace attnvp::schedule::check
