// Retire stage: writes bursts whose read has ended, and completes descriptors.
#include <fmt/format.h>

#include <algorithm>

#include "models/engine/dma_controller/multi_channel_dma.h"
#include "models/interconnect/bus/initiator.h"
#include "models/sim/trace/command_trace.h"

namespace attnvp {

void MultiChannelDma::responded(BusAccess& access, bool is_ok, const sc_core::sc_time& delay) {
  InFlight& entry = *access.burst;
  if (!is_ok) return stop_with(*entry.channel, {FaultCode::kUnmapped, entry.burst.destination, kRefused});
  entry.open = false;
  entry.done_cycle =
      ctx_.clock.now() + ctx_.clock.ceil_cycles(delay) + (ctx_.jitter != nullptr ? ctx_.jitter->cycles(name()) : 0);
  if (retire_possible_.has_waiter()) retire_possible_.notify_delta();
}

// Next burst to retire, if there is one; the annotated end of its read may lie ahead.
MultiChannelDma::InFlight* MultiChannelDma::next_done() {
  if (config_.in_order) return in_flight_.empty() || in_flight_.front().open ? nullptr : &in_flight_.front();
  InFlight* first = nullptr;
  for (InFlight& entry : in_flight_) {
    if (entry.retired || entry.open) continue;
    if (first == nullptr || entry.done_cycle < first->done_cycle) first = &entry;
  }
  if (first == nullptr || first->done_cycle <= ctx_.clock.now()) return first;
  retire_possible_.notify_at(ctx_.clock.begin_of(first->done_cycle));
  return nullptr;
}

sim::Process MultiChannelDma::retire_stage() {
  for (;;) {
    InFlight* const next = next_done();
    if (next == nullptr) {
      co_await retire_possible_;
      continue;
    }
    InFlight& entry = *next;
    DmaChannel& channel = *entry.channel;
    // A write to the own L1 is annotated with the read's end; other writes start after it.
    if (!entry.to_l1() && entry.done_cycle > ctx_.clock.now()) {
      co_await arrived_.at(ctx_.clock.begin_of(entry.done_cycle));
    }
    if (!entry.from_l1() || entry.to_l1()) {  // not written yet
      const std::uint64_t now = ctx_.clock.now();
      unsigned char* const data = buffers_[entry.buffer].data();
      fill_payload(write_payload_, tlm::TLM_WRITE_COMMAND, entry.burst.destination, data, entry.burst.bytes);
      bool is_ok = true;
      if (entry.to_l1()) {
        const auto arrival = ctx_.clock.cycles(entry.done_cycle - std::min(entry.done_cycle, now));
        is_ok = co_await write_access_.transport_after(l1_, write_payload_, arrival);
      } else {
        write_bytes += entry.burst.bytes;
        is_ok = co_await write_access_.transport_after(bus_, write_payload_, sc_core::SC_ZERO_TIME);
      }
      if (!is_ok) co_return stop_with(channel, {FaultCode::kUnmapped, entry.burst.destination, kRefused});
    }
    end_burst(entry);

    bool gave_at_once = false;
    while (!channel.accepted.empty() && channel.accepted.front().issued && channel.accepted.front().bursts == 0) {
      sim::Completion::Awaiter given =
          channel.events.give(channel.accepted.front().descriptor, channel.accepted.front().id);
      gave_at_once = given.await_ready();
      co_await given;
      end_descriptor(channel);
    }
    leave(entry);
    // After signalled events, newly unblocked channels compete for the next burst.
    gave_at_once ? issue_possible_.notify_delta() : issue_possible_.notify();
  }
}

// Bursts end one after the other. The bytes of a burst are reported between the end of the previous burst and its own.
void MultiChannelDma::end_burst(InFlight& entry) {
  const std::uint64_t from = std::max(entry.issued_fs, last_end_fs_);
  last_end_fs_ = ctx_.clock.now_fs();
  if (Activity* const activity = activity_of(ctx_)) {
    const auto bytes = static_cast<double>(entry.burst.bytes);
    activity->done(bursts, 1, from, last_end_fs_);
    if (!entry.from_l1()) activity->done(read_bytes, bytes, from, last_end_fs_);
    if (!entry.to_l1()) activity->done(write_bytes, bytes, from, last_end_fs_);
  }
  --entry.descriptor->bursts;
  entry.channel->counted -= config_.counted(entry.burst.bytes);
  if (ctx_.full_data) free_buffers_.push_back(entry.buffer);
  if (entry.access != nullptr) free_accesses_.push_back(entry.access);
  entry.retired = true;
}

// Called after the descriptor's events were signalled.
void MultiChannelDma::end_descriptor(DmaChannel& channel) {
  if (CommandTrace::TracedCommand* entry = traced(ctx_, channel.accepted.front().id)) {
    entry->end = entry->done = ctx_.clock.now();
  }
  descriptors += 1;
  channel.queue.count_done();
  channel.accepted.pop_front();
  channel.show();
  channel.settle(ctx_.clock.now());
  if (channel.emptied.has_waiter()) channel.emptied.notify_delta();
}

void MultiChannelDma::leave(InFlight& entry) {
  --live_;
  counted_ -= config_.counted(entry.burst.bytes);
  while (!in_flight_.empty() && in_flight_.front().retired) in_flight_.pop_front();
  outstanding_.set(live_);
  if (--active_ > 0) return;
  busy_cycles += ctx_.clock.now() - busy_since_;
  busy_.set(0);
}

void MultiChannelDma::DmaChannel::visit_state(sim::StateVisitor& visitor) {
  queue.visit_state(visitor, accepted.size());
  events.visit_state(visitor);
  stalls.visit_state(visitor);
  for (const sim::Event* event : {&pushed, &issued, &emptied}) visitor.waits(*event);
  for (const bool flag : {ready, busy}) visitor.value(flag);
  if (ready) {
    transfer.visit_state(visitor);
    visitor.value(owner.doorbells_ - age);
  }
  for (const std::uint64_t waiting : ages) visitor.value(owner.doorbells_ - waiting);
  for (const Accepted& e : accepted) {
    visitor.value(e.bursts);
    for (const bool flag : {e.started, e.issued}) visitor.value(flag);
  }
  visitor.value(counted);
  if (busy) visitor.since(busy_since);
  visitor.sum(busy_cycles);
  visitor.sum(bytes);
}

bool MultiChannelDma::visit_state(sim::StateVisitor& visitor) {
  visit_counters(visitor);
  for (const auto& channel : channels_) channel->visit_state(visitor);
  visitor.value(next_);
  visitor.value(live_);
  visitor.value(counted_);
  visitor.value(active_);
  if (active_ > 0) visitor.since(busy_since_);
  for (const sim::Event* event : {&issue_possible_, &retire_possible_, &arrived_}) visitor.waits(*event);
  for (const AtInitiator* access : {&l1_read_, &write_access_}) access->visit_state(visitor);
  visitor.value(issuing_.burst.bytes);
  visitor.value(issuing_.burst.last);
  for (const InFlight& entry : in_flight_) {
    visitor.value(entry.retired);
    if (entry.retired) continue;
    visitor.value(entry.channel->index);
    const auto& accepted = entry.channel->accepted;
    const auto is_its_own = [&entry](const DmaChannel::Accepted& e) { return &e == entry.descriptor; };
    visitor.value(std::find_if(accepted.begin(), accepted.end(), is_its_own) - accepted.begin());
    visitor.value(entry.burst.bytes);
    for (const bool flag : {entry.to_l1(), entry.from_l1(), entry.open}) visitor.value(flag);
    if (!entry.open) visitor.at(std::max(entry.done_cycle, ctx_.clock.now()));
  }
  return true;
}

}  // namespace attnvp
