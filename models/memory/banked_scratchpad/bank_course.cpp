#include "models/memory/banked_scratchpad/bank_course.h"

namespace attnvp {

std::size_t BankCourse::Hash::operator()(const std::vector<std::uint64_t>& key) const {
  std::uint64_t hash = 0;
  for (const std::uint64_t word : key) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15U;  // 2^64 / golden ratio
    hash ^= hash >> 32;
  }
  return hash;
}

const std::vector<BankState::FlowStep>& BankCourse::go(std::uint64_t cycles) {
  if (nodes_.size() >= kMost) {
    leave_node();
    nodes_.clear();
  }
  Node& from = node();
  for (const Hop& hop : from.hops) {
    if (hop.cycles != cycles) continue;
    follow(hop);
    return hop.steps;
  }
  leave_node();
  state_.run(cycles, steps_);
  from.hops.push_back({cycles, &node(), steps_});
  return from.hops.back().steps;
}

void BankCourse::add(const BankState::Flow& flow, std::uint32_t last) {
  Node& from = node();
  const std::uint64_t stream = flow.stream->number;
  for (const Addition& a : from.additions) {
    if (a.stream != stream || a.gap != flow.gap || a.slot != flow.slot || a.port != flow.port || a.last != last)
      continue;
    state_.insert(flow);
    node_ = a.to;
    return;
  }
  leave_node();
  state_.add(flow, last);
  from.additions.push_back({stream, flow.gap, flow.slot, flow.port, last, &node()});
}

std::uint32_t BankCourse::remove(std::uint32_t slot) {
  leave_node();
  return state_.remove(slot);
}

BankCourse::Node& BankCourse::node() {
  if (node_ == nullptr) {
    state_.key(key_);
    const auto [entry, fresh] = nodes_.try_emplace(key_);
    node_ = &entry->second;
    if (fresh) node_->ports = state_.ports();
  }
  return *node_;
}

void BankCourse::leave_node() {
  if (node_ != nullptr) state_.ports() = node_->ports;
  node_ = nullptr;
}

// Values beyond kHop are capped in keys, and are therefore carried over from the state.
void BankCourse::follow(const Hop& hop) {
  constexpr std::uint64_t kHop = BankState::kHop;
  bool same = true;  // the key is that of the state in which the hop was computed
  const auto count = [&same](std::uint64_t had, std::uint64_t beats, std::uint64_t there) {
    if (had <= kHop) return there;
    same &= there > kHop && had - beats > kHop;
    return had - beats;
  };
  auto flow = state_.flows().begin();
  auto kept = flow;
  for (const BankState::FlowStep& step : hop.steps) {
    BankState::Flow& f = *flow++;
    if (step.end != 0) continue;
    std::uint64_t leg_left = step.leg_left, part_left = step.part_left;
    if (step.beats < f.part_left) {
      leg_left = count(f.leg_left, step.beats, leg_left);
      part_left = count(f.part_left, step.beats, part_left);
    } else {
      f.enter_part(step.part);
    }
    if (step.leg != f.leg) f.enter_leg(step.leg);
    f.leg_left = leg_left;
    f.part_left = part_left;
    f.beat = step.beat;
    if (f.late()) {
      f.release +=
          static_cast<std::int64_t>(step.beats) * f.gap - static_cast<std::int64_t>(hop.cycles) * BankState::kPaceSteps;
      same &= f.late() && BankState::late(step.release, f.gap);
    } else {
      f.release = step.release;
    }
    if (kept != flow - 1) *kept = f;
    ++kept;
  }
  state_.flows().erase(kept, state_.flows().end());
  node_ = hop.to;
  if (!same) leave_node();
}

}  // namespace attnvp
