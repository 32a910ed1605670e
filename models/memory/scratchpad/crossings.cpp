#include "models/memory/scratchpad/crossings.h"

#include <algorithm>
#include <utility>

namespace attnvp {

Crossings::Crossings(CrossingOwner& owner, Context& context, std::uint32_t ports, std::unique_ptr<Arbiter> arbiter)
    : owner_(owner),
      event_queue_(context.event_queue),
      clock_(context.clock),
      share_(std::move(arbiter)),
      groups_(share_->groups()),
      group_of_(ports) {
  for (std::uint32_t port = 0; port < ports && !groups_.empty(); ++port) {
    group_of_[port] = &groups_[share_->group_of(port)];
  }
}

void Crossings::reset() {
  begun_ = 0;
  share_->reset();
}

Crossings::Crossing& Crossings::make() {
  if (free_.empty()) return all_.emplace_back(*this, event_queue_);
  Crossing& crossing = *free_.back();
  free_.pop_back();
  crossing.progress.clear();
  return crossing;
}

void Crossings::Crossing::visit_state(sim::StateVisitor& visitor) const {
  visitor.value(owner());
  visitor.at(start);
  visitor.at(due);
  visitor.value(port);
  visitor.value(bytes);
  visitor.value(pace_cycles);
  if (begun) visitor.value(slot);
  const Stream& all_of_it = moved();
  for (int i = 0; i < all_of_it.regions; ++i) {
    const Region& region = all_of_it.region[static_cast<std::size_t>(i)];
    visitor.value(region.traffic_bytes << 1 | (region.write ? 1 : 0));
  }
}

bool Crossings::visit_state(sim::StateVisitor& visitor) const {
  for (const PortGroup& group : groups_) {
    visitor.value(group.crossings);
    visitor.value(group.alone != nullptr);
    if (group.alone != nullptr) group.alone->visit_state(visitor);
  }
  visitor.value(to_come_.size());
  for (const Crossing* crossing : to_come_) crossing->visit_state(visitor);
  visitor.value(begun_);
  for (std::size_t slot = 0; slot < crossing_.size(); ++slot) {
    const Crossing* const crossing = crossing_[slot];
    if (crossing != nullptr && crossing->begun && crossing->slot == slot) crossing->visit_state(visitor);
  }
  return share_->visit_state(visitor);
}

void Crossings::enter(Crossing& crossing) {
  crossing.end.belongs_to(crossing.owner());
  if (PortQueue* const lane = crossing.lane) {
    if (lane->taken) return lane->waiting.push_back(&crossing);
    lane->taken = true;
  }
  occupy(crossing);
}

void Crossings::leave_lane(Crossing& crossing) {
  PortQueue* const lane = crossing.lane;
  if (lane == nullptr) return;
  lane->taken = !lane->waiting.empty();
  if (!lane->taken) return;
  Crossing& next = *lane->waiting.front();
  lane->waiting.pop_front();
  next.start = std::max(next.start, clock_.now());
  occupy(next);
}

void Crossings::plan(Crossing& crossing, std::uint64_t due) {
  crossing.due = due;
  crossing.end.notify_at(clock_.begin_of(due));
}

void Crossings::occupy(Crossing& crossing) {
  if (Withdrawal* const withdrawal = crossing.withdrawal()) withdrawal->end = &crossing.end;
  if (PortGroup* const group = group_of_[crossing.port]) {
    if (group->crossings++ == 0 && !owner_.watches()) {
      group->alone = &crossing;
      return plan(crossing, crossing.start + share_->alone_cycles(crossing.bytes, crossing.pace_cycles));
    }
    if (group->alone != nullptr) await_start(*std::exchange(group->alone, nullptr));
  }
  begin_due();
  if (crossing.start > clock_.now()) {
    plan(crossing, crossing.start + share_->alone_cycles(crossing.bytes, crossing.pace_cycles));
    await_start(crossing);
  } else {
    crossing.due = 0;
    begin(crossing);
  }
}

void Crossings::await_start(Crossing& crossing) {
  const auto later = [](const Crossing* a, const Crossing* b) { return a->start < b->start; };
  to_come_.insert(std::upper_bound(to_come_.begin(), to_come_.end(), &crossing, later), &crossing);
}

void Crossings::begin(Crossing& crossing) {
  crossing.slot = share_->open(crossing.start, crossing.port, crossing.bytes, crossing.pace_cycles, crossing.moved());
  if (crossing_.size() <= crossing.slot) crossing_.resize(crossing.slot + 1);
  crossing_[crossing.slot] = &crossing;
  crossing.begun = true;
  ++begun_;
  changed(crossing.start);
  const std::uint64_t due = share_->finish(crossing.slot, crossing.start);
  if (due != crossing.due) plan(crossing, due);
}

void Crossings::watched(std::uint64_t cycle) {
  for (std::size_t slot = 0; slot < crossing_.size(); ++slot) {
    Crossing* const c = crossing_[slot];
    if (c == nullptr || !c->begun || c->slot != slot) continue;
    c->progress.push_back({cycle, share_->remaining(slot, cycle)});
  }
  owner_.shares_changed(cycle);
}

void Crossings::begin_next() {
  begin(*to_come_.front());  // reports changes since its start, before any later change
  to_come_.erase(to_come_.begin());
}

void Crossings::plan_moved() {
  for (const std::size_t slot : share_->moved()) plan(*crossing_[slot], share_->finish(slot, clock_.now()));
}

// Ends the crossings of one record, one after the other.
sim::Process Crossings::await_ends(Crossing& crossing) {
  for (;;) {
    co_await crossing.end;
    if (!end(crossing)) continue;
    crossing.response.send(sc_core::SC_ZERO_TIME);
    drop(crossing);
  }
}

// Ends a crossing that has completed or was withdrawn. False: its end has moved to a later time.
bool Crossings::end(Crossing& crossing) {
  Withdrawal* const withdrawal = crossing.withdrawal();
  const bool withdrawn = withdrawal != nullptr && withdrawal->requested;
  const std::uint64_t now = clock_.now();
  PortGroup* const group = group_of_[crossing.port];
  if (group != nullptr && group->alone == &crossing) {
    group->alone = nullptr;
    if (now < crossing.due) await_start(crossing);  // the arbiter gives its progress
  }
  begin_due();
  double left = 0;
  if (crossing.begun) {
    const std::uint64_t due = share_->finish(crossing.slot, now);
    if (now < due && !withdrawn) {
      plan(crossing, due);
      return false;
    }
    if (now < due && crossing.bytes > 0) {
      left = share_->remaining(crossing.slot, now) / static_cast<double>(crossing.bytes);
    }
    share_->close(now, crossing.slot);
    if (crossing.stream != nullptr) crossing.stream->bank_cycles = share_->bank_cycles(crossing.slot);
    crossing.begun = false;
    --begun_;
    owner_.closed();
    changed(now);
  } else if (now < crossing.start) {  // withdrawn before its start
    to_come_.erase(std::find(to_come_.begin(), to_come_.end(), &crossing));
    left = 1;
  }
  crossing.end.cancel();  // may be scheduled again by begin_due()
  if (withdrawal != nullptr) withdrawal->end = nullptr;
  if (group != nullptr) --group->crossings;
  owner_.crossed(crossing, 1 - left);
  leave_lane(crossing);
  return true;
}

}  // namespace attnvp
