#include "models/memory/banked_scratchpad/bank_share.h"

#include <algorithm>

namespace attnvp {

BankShare::BankShare(const BankMap& map, std::uint32_t ports, std::uint64_t port_bytes, std::uint64_t base)
    : streams_(map, port_bytes, base), port_bytes_(port_bytes), ports_(ports), bank_words_(map.banks) {}

void BankShare::reset() {
  std::fill(ports_.begin(), ports_.end(), Port{});
  std::fill(bank_words_.begin(), bank_words_.end(), 0);
  conflict_cycles_ = 0;
}

std::uint64_t BankShare::busiest_bank_words() const {
  return *std::max_element(bank_words_.begin(), bank_words_.end());
}

std::uint64_t BankShare::alone_cycles(std::uint64_t bytes, std::uint64_t pace) const {
  return std::max<std::uint64_t>({pace, (bytes + port_bytes_ - 1) / port_bytes_, 1});
}

std::size_t BankShare::open(std::uint64_t now, std::uint32_t port, std::uint64_t bytes, std::uint64_t pace,
                            const Stream& stream) {
  advance(now);
  std::size_t slot = 0;
  while (slot < flows_.size() && flows_[slot].active) ++slot;
  if (slot == flows_.size()) flows_.emplace_back();
  Flow& flow = flows_[slot];
  flow.active = true;
  flow.port = port;
  flow.bytes = bytes;
  flow.stream = streams_.of(stream);
  flow.left = flow.stream->beats;
  flow.start = flow.ended = now;
  flow.pace_end = now + std::max<std::uint64_t>(pace, 1);
  flow.held_before = ports_[port].held;
  if (flow.left > 0) {
    BankState::Flow beats;
    beats.slot = static_cast<std::uint32_t>(slot);
    beats.port = port;
    beats.stream = flow.stream.get();
    beats.enter_part(0);
    const std::uint64_t gap = pace * BankState::kPaceSteps / flow.left;
    if (gap > BankState::kPaceSteps)
      beats.gap = static_cast<std::int64_t>(gap);  // a port moves at most one beat per cycle
    course_.add(beats, ports_[port].last);
  }
  return slot;
}

void BankShare::close(std::uint64_t now, std::size_t slot) {
  advance(now);
  Flow& flow = flows_[slot];
  if (flow.left == 0) {
    for (std::size_t i = 0; i < bank_words_.size(); ++i) bank_words_[i] += flow.stream->words[i];
  } else {  // withdrawn
    std::uint64_t done = flow.stream->beats - flow.left;
    for (const StreamBeats::Part& part : flow.stream->parts) {
      part.region->add_words(std::min(done, part.beats), bank_words_);
      done -= std::min(done, part.beats);
    }
    ports_[flow.port].last = course_.remove(static_cast<std::uint32_t>(slot));
    flow.left = 0;
  }
  flow.active = false;
}

// Lower bound of the end.
std::uint64_t BankShare::finish(std::size_t slot, std::uint64_t now) {
  const Flow& flow = flows_[slot];
  if (flow.left > 0) advance(now);
  return std::max(flow.pace_end, flow.left > 0 ? now_ + flow.left : flow.ended);
}

double BankShare::remaining(std::size_t slot, std::uint64_t now) {
  advance(now);
  const Flow& flow = flows_[slot];
  return static_cast<double>(flow.bytes) * static_cast<double>(flow.left) /
         static_cast<double>(std::max<std::uint64_t>(flow.stream->beats, 1));
}

double BankShare::port_rate(std::uint32_t port) const {
  double rate = 0;
  for (const Flow& flow : flows_) {
    if (!flow.active || flow.port != port || flow.left == 0) continue;
    const double cycles = static_cast<double>(std::max(flow.pace_end - flow.start, flow.stream->beats));
    rate += static_cast<double>(flow.bytes) / cycles;
  }
  return std::min(rate, static_cast<double>(port_bytes_));
}

std::uint64_t BankShare::bank_cycles(std::size_t slot) const {
  return ports_[flows_[slot].port].held - flows_[slot].held_before;
}

void BankShare::advance(std::uint64_t now) {
  while (now_ < now && !course_.idle()) {
    const std::uint64_t cycles = std::min(now - now_, BankState::kHop);
    std::uint32_t last_end = 0;
    std::uint32_t port = BankState::kNone;
    for (const BankState::FlowStep& step : course_.go(cycles)) {
      if (step.port != port) last_end = 0;
      port = step.port;
      ports_[port].held += step.held;
      conflict_cycles_ += step.held;
      Flow& flow = flows_[step.slot];
      flow.left -= step.beats;
      if (step.end == 0) continue;
      flow.ended = now_ + step.end;
      if (step.end > last_end) ports_[port].last = step.slot;
      last_end = std::max(last_end, step.end);
    }
    now_ += cycles;
  }
  now_ = std::max(now_, now);
}

}  // namespace attnvp
