// Engines, as models/engine/engine.h has them: fetch, execute (all sub-tiles but the last, then the last one) and
// drain.
#include <algorithm>
#include <utility>

#include "mapping/cluster.h"
#include "models/whole.h"

namespace attnvp::mapping {

void Cluster::engine(Line& l, std::uint32_t id, std::uint32_t command, const Cost& c) {
  ++l.next;
  if (bound_) return units(l, id, command, c);
  l.stages.filling = command;
  fill(l, id);
}

// With L1 at no cost.
void Cluster::units(Line& l, std::uint32_t id, std::uint32_t command, const Cost& c) {
  const double filled = std::max({now_, l.began, c.after_previous ? l.drained : 0});
  l.began = std::max(filled, l.executed);
  l.executed = l.began + c.pace;
  l.drained = std::max(l.executed + c.pipeline, l.drained);
  plan(l.drained, Happens::kSignal, command);
  plan(filled, Happens::kLine, id);
}

void Cluster::cross(std::uint32_t id, Stage stage, std::uint32_t command) {
  const Crossing& crossing = cost_of(command).stage[stage];
  const std::uint32_t crosser = id * kStages + stage;
  if (crossing.bytes > 0) return l1_.open(crosser, id, crossing);
  if (crossing.pace > 0) return plan(static_cast<double>(whole_above(now_) + crossing.pace), Happens::kPaced, crosser);
  crossed(crosser);
}

void Cluster::crossed(std::uint32_t crosser) {
  const std::uint32_t id = crosser / kStages;
  if (id == dma_) return copied();
  Line& l = lines_[id];
  Stages& s = l.stages;
  switch (static_cast<Stage>(crosser % kStages)) {
    case kFill:
      s.filled = std::exchange(s.filling, kNone);
      execute(l, id);
      return line(id);
    case kBody:
      s.buffer_taken = false;
      if (s.waits) fill(l, id);
      return cross(id, kLast, s.executing);
    case kLast:
      s.blocked = s.results.full();
      return s.blocked ? void() : executed(l, id);
    default:
      return drained(l, id);
  }
}

void Cluster::fill(Line& l, std::uint32_t id) {
  Stages& s = l.stages;
  const bool others = !s.results.empty() || s.executing != kNone || s.filled != kNone;
  s.waits = s.buffer_taken || (others && cost_of(s.filling).after_previous);
  if (s.waits) return;
  s.buffer_taken = true;
  cross(id, kFill, s.filling);
}

void Cluster::execute(Line& l, std::uint32_t id) {
  Stages& s = l.stages;
  if (s.executing != kNone || s.filled == kNone) return;
  s.executing = std::exchange(s.filled, kNone);
  agenda_.ends_after(now_ + s.ahead);
  s.ahead -= cost_of(s.executing).pace;
  cross(id, kBody, s.executing);
}

void Cluster::executed(Line& l, std::uint32_t id) {
  Stages& s = l.stages;
  s.results.push_back({});
  s.results.back().command = s.executing;
  s.results.back().due = now_ + cost_of(s.executing).pipeline;
  if (s.results.size() == 1) plan(s.results.front().due, Happens::kDrain, id);
  s.executing = kNone;
  execute(l, id);
}

void Cluster::drain(std::uint32_t id) { cross(id, kDrain, lines_[id].stages.results.front().command); }

void Cluster::drained(Line& l, std::uint32_t id) {
  Stages& s = l.stages;
  const std::uint32_t command = s.results.front().command;
  s.results.pop_front();
  if (!s.results.empty()) plan(std::max(now_, s.results.front().due), Happens::kDrain, id);
  last_ = now_;
  signal(r_.commands[command]);
  if (std::exchange(s.blocked, false)) executed(l, id);
  if (s.waits) fill(l, id);
}

}  // namespace attnvp::mapping
