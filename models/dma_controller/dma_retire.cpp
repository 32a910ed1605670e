// The retire stage: bursts whose read is over are written, and descriptors end.
#include <fmt/format.h>

#include <algorithm>

#include "models/bus/initiator.h"
#include "models/bus/jitter.h"
#include "models/dma_controller/dma_controller.h"

namespace attnvp {

// Begins after `delay`.
bool DmaController::write(const InFlight& entry, sc_core::sc_time delay) {
  unsigned char* const data = buffers_[entry.buffer].data();
  fill_payload(retire_payload_, tlm::TLM_WRITE_COMMAND, entry.destination, data, entry.bytes);
  if (!entry.to_l1) {
    arrive(delay);
    write_bytes += entry.bytes;
  }
  const bool ok = request(entry.to_l1 ? l1 : bus, retire_payload_, delay);
  arrive(delay);
  return ok;
}

void DmaController::completed(std::uint64_t ticket, std::uint64_t cycle) {
  InFlight& entry = in_flight_[in_flight_.size() - (tickets_ - ticket)];
  entry.open = false;
  entry.done_cycle = cycle + (jitter::on ? jitter::cycles(name()) : 0);
  news_.notify();
}

// The burst to retire next, when its turn has come; its read may be annotated to end later.
DmaController::InFlight& DmaController::next_done() {
  while (config_.in_order) {
    while (in_flight_.empty()) news_.wait();
    InFlight& first = in_flight_.front();
    if (!first.open) return first;
    news_.wait();
  }
  while (true) {
    InFlight* first = nullptr;
    for (InFlight& entry : in_flight_) {
      if (entry.retired || entry.open) continue;
      if (first == nullptr || entry.done_cycle < first->done_cycle) first = &entry;
    }
    const std::uint64_t now = ctx_.clock.now();
    if (first == nullptr) {
      news_.wait();
    } else if (first->done_cycle > now) {
      news_.wait(ctx_.clock.cycles(first->done_cycle - now));
    } else {
      return *first;
    }
  }
}

// Its descriptor is done with the last of its bursts, in the order of the channel.
bool DmaController::end_burst(InFlight& entry) {
  Channel& channel = *entry.channel;
  --entry.descriptor->bursts;
  channel.counted -= config_.counted(entry.bytes);
  free_buffers_.push_back(entry.buffer);
  entry.retired = true;
  while (!channel.ending.empty() && channel.ending.front().issued && channel.ending.front().bursts == 0) {
    const Channel::Ending& ending = channel.ending.front();
    if (!channel.events.give(ending.descriptor, ending.id)) return false;
    if (ctx_.journal != nullptr && ending.id != Journal::kNobody) {
      Journal::Entry& journal = ctx_.journal->of(ending.id);
      journal.end = journal.done = ctx_.clock.now();
    }
    channel.done();
    descriptors += 1;
    channel.queue.count_done();
    channel.ending.pop_front();
    channel.settle(ctx_.clock.now());
    channel.drained.notify();
  }
  return true;
}

void DmaController::retire() {
  while (true) {
    InFlight& entry = next_done();
    sc_core::sc_time delay = ctx_.clock.cycles(entry.done_cycle - std::min(entry.done_cycle, ctx_.clock.now()));
    if (entry.written) arrive(delay);
    if (!entry.written && !write(entry, delay)) {
      stop_with(*entry.channel, FaultCode::kUnmapped, entry.destination, "a burst was answered with an error");
      return;
    }
    if (!end_burst(entry)) return;
    --live_;
    counted_ -= config_.counted(entry.bytes);
    while (!in_flight_.empty() && in_flight_.front().retired) in_flight_.pop_front();
    outstanding_.set(live_);
    if (--active_ == 0) {
      busy_cycles += ctx_.clock.now() - busy_since_;
      busy_.set(0);
    }
    give_credit();
  }
}

}  // namespace attnvp
