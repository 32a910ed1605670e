// The retire stage: bursts whose read is over are written, and descriptors end.
#include <fmt/format.h>

#include <algorithm>

#include "models/bus/initiator.h"
#include "models/bus/jitter.h"
#include "models/dma_controller/dma_controller.h"
#include "models/trace/activity.h"

namespace attnvp {

void DmaController::completed(std::uint64_t ticket, std::uint64_t cycle, bool ok) {
  InFlight& entry = in_flight_[in_flight_.size() - (tickets_ - ticket)];
  if (!ok) return stop_with(*entry.channel, FaultCode::kUnmapped, entry.destination, kRefused);
  entry.open = false;
  entry.done_cycle = cycle + entry.more_cycles + (jitter::on ? jitter::cycles(name()) : 0);
  if (retiring_ == nullptr) retire_.soon();
}

// The burst to retire next, when its turn has come; its read may be annotated to end later.
DmaController::InFlight* DmaController::next_done() {
  if (config_.in_order) return in_flight_.empty() || in_flight_.front().open ? nullptr : &in_flight_.front();
  InFlight* first = nullptr;
  for (InFlight& entry : in_flight_) {
    if (entry.retired || entry.open) continue;
    if (first == nullptr || entry.done_cycle < first->done_cycle) first = &entry;
  }
  if (first == nullptr || first->done_cycle <= ctx_.clock.now()) return first;
  retire_.at(ctx_.clock.begin_of(first->done_cycle));
  return nullptr;
}

void DmaController::retire() {
  while (retiring_ == nullptr) {
    retiring_ = next_done();
    if (retiring_ == nullptr || !write() || !end_burst()) return;
  }
}

// Into the own L1 from when it has arrived on; elsewhere, once it has. Whether that is over: if not, arrived() or
// written() is next.
bool DmaController::write() {
  const InFlight& entry = *retiring_;
  const std::uint64_t now = ctx_.clock.now();
  if (!entry.to_l1 && entry.done_cycle > now) {
    write_.at(ctx_.clock.begin_of(entry.done_cycle));
    return false;
  }
  if (entry.written) return true;
  fill_payload(write_payload_, tlm::TLM_WRITE_COMMAND, entry.destination, buffers_[entry.buffer].data(), entry.bytes);
  if (!entry.to_l1) {
    write_bytes += entry.bytes;
    return write_access_.make(bus, write_payload_, sc_core::SC_ZERO_TIME);
  }
  return write_access_.make(l1, write_payload_, ctx_.clock.cycles(entry.done_cycle - std::min(entry.done_cycle, now)));
}

void DmaController::arrived() {
  if (write() && end_burst()) retire();
}

void DmaController::written() {
  if (end_burst()) retire();
}

// Bursts end one after the other: a burst's bytes pass between the end of the one before and its own.
void DmaController::tell_burst(const InFlight& entry) {
  const std::uint64_t from = std::max(entry.issued_fs, last_end_fs_);
  last_end_fs_ = ctx_.clock.now_fs();
  Activity* const activity = activity_of(ctx_);
  if (activity == nullptr) return;
  const auto bytes = static_cast<double>(entry.bytes);
  activity->done(bursts, 1, from, last_end_fs_);
  if (!entry.from_l1) activity->done(read_bytes, bytes, from, last_end_fs_);
  if (!entry.to_l1) activity->done(write_bytes, bytes, from, last_end_fs_);
}

// Its descriptor is done with the last of its bursts, in the order of the channel. False: there is still something to
// come.
bool DmaController::end_burst() {
  InFlight& entry = *retiring_;
  if (!entry.written && !write_access_.ok()) {
    stop_with(*entry.channel, FaultCode::kUnmapped, entry.destination, kRefused);
    return false;
  }
  tell_burst(entry);
  --entry.descriptor->bursts;
  entry.channel->counted -= config_.counted(entry.bytes);
  free_buffers_.push_back(entry.buffer);
  entry.retired = true;
  return end_descriptors(*entry.channel);
}

bool DmaController::end_descriptors(Channel& channel) {
  const std::uint64_t ended = descriptors.value();
  while (!channel.ending.empty() && channel.ending.front().issued && channel.ending.front().bursts == 0) {
    const Channel::Ending& ending = channel.ending.front();
    if (!channel.events.give(ending.descriptor, ending.id)) return false;
    end_descriptor(channel);
  }
  --live_;
  counted_ -= config_.counted(retiring_->bytes);
  retiring_ = nullptr;
  while (!in_flight_.empty() && in_flight_.front().retired) in_flight_.pop_front();
  outstanding_.set(live_);
  if (--active_ == 0) {
    busy_cycles += ctx_.clock.now() - busy_since_;
    busy_.set(0);
  }
  // Where events were given, whoever gets them competes for the next burst.
  descriptors.value() == ended ? issue() : issue_.soon();
  return true;
}

// Its events have been given.
void DmaController::end_descriptor(Channel& channel) {
  const Channel::Ending& ending = channel.ending.front();
  if (ctx_.journal != nullptr && ending.id != Journal::kNobody) {
    Journal::Entry& journal = ctx_.journal->of(ending.id);
    journal.end = journal.done = ctx_.clock.now();
  }
  channel.done();
  descriptors += 1;
  channel.queue.count_done();
  channel.ending.pop_front();
  channel.settle(ctx_.clock.now());
  if (channel.nop) channel.next.soon();
}

void DmaController::given(Channel& channel) {
  if (channel.nop && channel.ending.empty()) {
    channel.nop = false;
    return next(channel);
  }
  end_descriptor(channel);
  if (end_descriptors(channel)) retire();
}

}  // namespace attnvp
