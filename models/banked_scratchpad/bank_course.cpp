#include "models/banked_scratchpad/bank_course.h"

#include <boost/container_hash/hash.hpp>

namespace attnvp {

std::size_t BankCourse::Hash::operator()(const std::vector<std::uint64_t>& key) const {
  return boost::hash_range(key.begin(), key.end());
}

const std::vector<BankState::Step>& BankCourse::go(std::uint64_t cycles) {
  if (nodes_.size() >= kMost) {
    leave_node();
    nodes_.clear();
  }
  Node& from = node();
  for (const auto& [known, leg] : from.legs) {
    if (known != cycles) continue;
    follow(cycles, *leg);
    return leg->steps;
  }
  auto leg = std::make_unique<Leg>();
  leave_node();
  state_.run(cycles, leg->steps);
  leg->after = state_.flows();
  leg->to = &node();
  return from.legs.emplace_back(cycles, std::move(leg)).second->steps;
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

// What is left of what is far, and how late is what is late, differs from state to state.
void BankCourse::follow(std::uint64_t cycles, const Leg& leg) {
  constexpr std::uint64_t kHop = BankState::kHop;
  bool same = true;  // key as where the leg was found
  after_ = leg.after;
  auto to = after_.begin();
  for (std::size_t i = 0; i < leg.steps.size(); ++i) {
    const auto& [slot, port, beats, end, held] = leg.steps[i];
    if (end != 0) continue;
    const BankState::Flow& was = state_.flows()[i];
    BankState::Flow& is = *to++;
    is.stream = was.stream;
    const auto count = [&same, beats = beats](std::uint64_t had, std::uint64_t& left) {
      if (had <= kHop) return;
      same &= left > kHop && had - beats > kHop;
      left = had - beats;
    };
    if (beats < was.part_left) {
      is.part = was.part;
      count(was.leg_left, is.leg_left);
    }
    count(was.part_left, is.part_left);
    if (was.late()) {
      same &= is.late();
      is.release = was.release + static_cast<std::int64_t>(beats) * is.gap -
                   static_cast<std::int64_t>(cycles) * BankState::kPaceSteps;
      same &= is.late();
    }
  }
  state_.flows().swap(after_);
  node_ = leg.to;
  if (!same) leave_node();
}

}  // namespace attnvp
