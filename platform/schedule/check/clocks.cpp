#include "platform/schedule/check/clocks.h"

#include <numeric>

#include "platform/schedule/check/progress.h"

namespace attnvp::schedule::check {

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

bool is_dma(const Line& line) { return !line.processor && line.queue.unit == Unit::kDma; }

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
        const Line &a = trace.lines[l], &b = trace.lines[other];
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
