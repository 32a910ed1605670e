#include "platform/schedule/check/progress.h"

#include <numeric>

namespace attnvp::schedule::check {

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
