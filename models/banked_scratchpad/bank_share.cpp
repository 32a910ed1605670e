#include "models/banked_scratchpad/bank_share.h"

#include <algorithm>
#include <numeric>

namespace attnvp {

namespace {
constexpr std::uint64_t kShort = 128;  // cycles; to look for rounds in less does not pay
}

BankShare::BankShare(const BankMap& map, std::uint32_t ports, std::uint64_t port_bytes, std::uint64_t base)
    : cache_(map, port_bytes), port_bytes_(port_bytes), base_(base), ports_(ports), bank_words_(map.banks) {}

void BankShare::reset() {
  for (Port& port : ports_) {
    port.last = SIZE_MAX;
    port.held = 0;
  }
  std::fill(bank_words_.begin(), bank_words_.end(), 0);
  forget();
}

std::uint64_t BankShare::busiest_bank_words() const {
  return *std::max_element(bank_words_.begin(), bank_words_.end());
}

std::uint64_t BankShare::conflict_cycles() const {
  return std::accumulate(ports_.begin(), ports_.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const Port& port) { return sum + port.held; });
}

std::uint64_t BankShare::alone_cycles(std::uint64_t bytes, std::uint64_t pace) const {
  return std::max<std::uint64_t>({pace, (bytes + port_bytes_ - 1) / port_bytes_, 1});
}

std::size_t BankShare::open(std::uint64_t now, std::uint32_t port, std::uint64_t bytes, std::uint64_t pace,
                            const Stream& stream) {
  advance(now);
  forget();
  std::size_t slot = 0;
  while (slot < flows_.size() && flows_[slot].active) ++slot;
  if (slot == flows_.size()) flows_.emplace_back();
  Flow& flow = flows_[slot];
  flow.active = true;
  flow.port = port;
  flow.bytes = bytes;
  flow.beats = 0;
  flow.parts.clear();
  for (int i = 0; i < stream.regions; ++i) {
    Region region = stream.region[static_cast<std::size_t>(i)];
    if (region.traffic_bytes == 0) continue;
    region.address -= base_;
    Part part{cache_.of(region), 0};
    part.beats = part.region->beats_of(region.traffic_bytes);
    flow.beats += part.beats;
    flow.parts.push_back(std::move(part));
  }
  flow.at = {};
  flow.at.left = flow.beats;
  flow.start = flow.ended = now;
  flow.gap = flow.beats > 0 ? pace * kPaceSteps / flow.beats : 0;
  flow.pace_end = now + std::max<std::uint64_t>(pace, 1);
  flow.held_before = ports_[port].held;
  if (flow.beats > 0) {
    flow.at.part_left = flow.parts[0].beats;
    Port& p = ports_[port];
    if (p.flows.empty()) in_use_.insert(std::upper_bound(in_use_.begin(), in_use_.end(), port), port);
    p.flows.insert(std::upper_bound(p.flows.begin(), p.flows.end(), slot), slot);
  }
  return slot;
}

void BankShare::close(std::uint64_t now, std::size_t slot) {
  advance(now);
  forget();
  Flow& flow = flows_[slot];
  for (std::size_t i = 0; i < flow.parts.size() && i <= flow.at.part; ++i) {
    const Part& part = flow.parts[i];
    part.region->add_words(part.beats - (i == flow.at.part ? flow.at.part_left : 0), bank_words_);
  }
  if (flow.at.left > 0) {  // taken back
    Port& port = ports_[flow.port];
    if (port.current == slot) {
      port.current = SIZE_MAX;
      holding_.erase(std::find(holding_.begin(), holding_.end(), flow.port));
    }
    port.flows.erase(std::find(port.flows.begin(), port.flows.end(), slot));
    if (port.flows.empty()) in_use_.erase(std::find(in_use_.begin(), in_use_.end(), flow.port));
  }
  flow.active = false;
}

std::uint64_t BankShare::finish(std::size_t slot, std::uint64_t now) {
  const Flow& flow = flows_[slot];
  if (flow.at.left > 0) advance(now);
  return std::max(flow.pace_end, flow.at.left > 0 ? now_ + flow.at.left : flow.ended);
}

double BankShare::remaining(std::size_t slot, std::uint64_t now) {
  advance(now);
  const Flow& flow = flows_[slot];
  return static_cast<double>(flow.bytes) * static_cast<double>(flow.at.left) /
         static_cast<double>(std::max<std::uint64_t>(flow.beats, 1));
}

double BankShare::port_rate(std::uint32_t port) const {
  double rate = 0;
  for (const Flow& flow : flows_) {
    if (!flow.active || flow.port != port || flow.at.left == 0) continue;
    const double cycles = static_cast<double>(std::max(flow.pace_end - flow.start, flow.beats));
    rate += static_cast<double>(flow.bytes) / cycles;
  }
  return std::min(rate, static_cast<double>(port_bytes_));
}

std::uint64_t BankShare::bank_cycles(std::size_t slot) const {
  return ports_[flows_[slot].port].held - flows_[slot].held_before;
}

void BankShare::advance(std::uint64_t now) {
  if (in_use_.empty()) now_ = std::max(now_, now);
  leader_ = SIZE_MAX;
  while (now_ < now) {
    if (leader_ == SIZE_MAX && now > now_ + kShort) choose_leader();
    const std::uint64_t next = present();
    if (holding_.empty()) {
      now_ = std::min(now, next);
      if (in_use_.empty()) now_ = now;
      continue;
    }
    const std::uint64_t before = leader_ != SIZE_MAX ? flows_[leader_].at.asked : 0;
    grant();
    ++now_;
    if (leader_ != SIZE_MAX && flows_[leader_].at.asked != before) at_leader(now);
  }
}

void BankShare::choose_leader() {
  for (const std::uint32_t port : in_use_) {
    for (const std::size_t slot : ports_[port].flows) {
      if (leader_ == SIZE_MAX || flows_[slot].at.left > flows_[leader_].at.left) leader_ = slot;
    }
  }
  forget();
  looked_ = 0;
  looks_ = 1;
}

// Ports without a beat take their next one. Returns when the first of those that are not asked for yet will be.
std::uint64_t BankShare::present() {
  std::uint64_t next = UINT64_MAX;
  for (const std::uint32_t p : in_use_) {
    Port& port = ports_[p];
    if (port.current != SIZE_MAX) continue;
    const std::size_t slot = next_flow(port, next);
    if (slot == SIZE_MAX) continue;
    const Flow& flow = flows_[slot];
    const BeatTable& table = flow.table();
    const std::uint64_t beat = flow.phase();
    port.current = port.last = slot;
    port.since = now_;
    port.wants.assign(table.begin(beat), table.begin(beat) + table.masks(beat));
    holding_.push_back(p);
  }
  return next;
}

std::size_t BankShare::next_flow(Port& port, std::uint64_t& next) {
  const std::size_t n = port.flows.size();
  std::size_t first = 0;
  while (first < n && port.last != SIZE_MAX && port.flows[first] <= port.last) ++first;
  std::size_t chosen = SIZE_MAX;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t slot = port.flows[(first + i) % n];
    Flow& flow = flows_[slot];
    const std::uint64_t release = flow.release();
    if (release > now_) {
      flow.early = true;
      next = std::min(next, release);
    } else {
      flow.slack = std::min(flow.slack, now_ - release);
      if (chosen == SIZE_MAX) chosen = slot;
    }
  }
  return chosen;
}

// One cycle of the banks.
void BankShare::grant() {
  std::uint64_t taken = 0;
  std::size_t left = 0;
  for (const std::uint32_t p : holding_) {
    Port& port = ports_[p];
    std::vector<std::uint64_t>& wants = port.wants;
    std::uint64_t granted = wants[0] & ~taken;
    taken |= granted;
    for (std::size_t i = 0; i < wants.size(); ++i) {  // who wants another word moves up
      const std::uint64_t more = i + 1 < wants.size() ? wants[i + 1] & granted : 0;
      wants[i] = (wants[i] & ~granted) | more;
      granted = more;
    }
    while (!wants.empty() && wants.back() == 0) wants.pop_back();
    if (wants.empty()) {
      beat_done(port);
    } else {
      ++port.held;
      holding_[left++] = p;
    }
  }
  holding_.resize(left);
}

void BankShare::beat_done(Port& port) {
  const std::size_t slot = port.current;
  Flow& flow = flows_[slot];
  Place& at = flow.at;
  port.current = SIZE_MAX;
  ++at.asked;
  --at.left;
  if (--at.part_left == 0) {
    forget();
    if (at.left == 0) {
      flow.ended = now_ + 1;
      const std::uint32_t p = flow.port;
      port.flows.erase(std::find(port.flows.begin(), port.flows.end(), slot));
      if (port.flows.empty()) in_use_.erase(std::find(in_use_.begin(), in_use_.end(), p));
      if (slot == leader_) leader_ = SIZE_MAX;
      return;
    }
    at.part_left = flow.parts[++at.part].beats;
    at.leg = at.beat = 0;
    return;
  }
  const auto& legs = flow.parts[at.part].region->legs();
  if (++at.beat < legs[at.leg].beats) return;
  at.beat = 0;
  at.leg = (at.leg + 1) % legs.size();
}

void BankShare::at_leader(std::uint64_t now) {
  if (leader_ == SIZE_MAX || flows_[leader_].phase() != 0) return;
  note(present_);
  if (!reference_.flows.empty()) {
    const std::uint64_t n = rounds(reference_, present_, now);
    if (n > 0) {
      skip(reference_, present_, n);
      forget();
      looked_ = 0;
      looks_ = 1;
      return;
    }
    if (++looked_ < looks_) return;
    looks_ *= 2;
  }
  looked_ = 0;
  std::swap(reference_, present_);
  for (const auto& f : reference_.flows) {
    flows_[f.slot].early = false;
    flows_[f.slot].slack = UINT64_MAX;
  }
}

void BankShare::note(Snapshot& s) const {
  s.time = now_;
  s.flows.clear();
  s.ports.resize(in_use_.size());
  for (std::size_t i = 0; i < in_use_.size(); ++i) {
    const Port& port = ports_[in_use_[i]];
    Snapshot::OfPort& to = s.ports[i];
    to.last = port.last;
    to.current = port.current;
    to.since = port.current == SIZE_MAX ? 0 : now_ - port.since;
    to.held = port.held;
    if (port.current == SIZE_MAX) {
      to.wants.clear();
    } else {
      to.wants = port.wants;
    }
    for (const std::size_t slot : port.flows) {
      const Flow& flow = flows_[slot];
      s.flows.push_back({slot, flow.at, static_cast<std::int64_t>(now_ - flow.release())});
    }
  }
}

// How often what happened between the two can happen again before `until`.
std::uint64_t BankShare::rounds(const Snapshot& then, const Snapshot& now, std::uint64_t until) const {
  if (then.flows.size() != now.flows.size() || then.ports.size() != now.ports.size()) return 0;
  const std::uint64_t cycles = now.time - then.time;
  std::uint64_t n = (until - now.time) / cycles;
  for (std::size_t i = 0; i < now.flows.size() && n > 0; ++i) {
    const Snapshot::OfFlow &a = then.flows[i], &b = now.flows[i];
    if (a.slot != b.slot || a.at.part != b.at.part || a.at.leg != b.at.leg) return 0;
    const Flow& flow = flows_[b.slot];
    const std::uint64_t beats = b.at.asked - a.at.asked;
    if (beats == 0) {
      if (b.late >= 0) return 0;
      n = std::min(n, static_cast<std::uint64_t>(-b.late - 1) / cycles);
      continue;
    }
    if (beats * flow.gap % kPaceSteps != 0) return 0;
    const std::int64_t later = b.late - a.late;
    if (flow.early && later != 0) return 0;
    if (later < 0) n = std::min(n, flow.slack / static_cast<std::uint64_t>(-later));
    if (b.at.beat != a.at.beat) {  // further on in the leg
      if (b.at.beat - a.at.beat != beats || beats % flow.table().beats() != 0) return 0;
      n = std::min(n, (flow.parts[b.at.part].region->legs()[b.at.leg].beats - 1 - b.at.beat) / beats);
    }
    n = std::min(n, (b.at.part_left - 1) / beats);
  }
  for (std::size_t i = 0; i < now.ports.size() && n > 0; ++i) {
    const Snapshot::OfPort &a = then.ports[i], &b = now.ports[i];
    if (a.last != b.last || a.current != b.current || a.since != b.since || a.wants != b.wants) return 0;
  }
  return n;
}

void BankShare::skip(const Snapshot& then, const Snapshot& now, std::uint64_t rounds) {
  const std::uint64_t cycles = (now.time - then.time) * rounds;
  for (std::size_t i = 0; i < now.flows.size(); ++i) {
    const Place &a = then.flows[i].at, &b = now.flows[i].at;
    Place& at = flows_[now.flows[i].slot].at;
    const std::uint64_t beats = (b.asked - a.asked) * rounds;
    at.asked += beats;
    at.left -= beats;
    at.part_left -= beats;
    if (b.beat != a.beat) at.beat += beats;
  }
  for (std::size_t i = 0; i < in_use_.size(); ++i) {
    Port& port = ports_[in_use_[i]];
    port.since += cycles;
    port.held += (now.ports[i].held - then.ports[i].held) * rounds;
  }
  now_ += cycles;
}

}  // namespace attnvp
