#include "models/memory/banked_scratchpad/bank_state.h"

#include <algorithm>

namespace attnvp {

void BankState::BankFlow::enter_part(std::uint32_t number) {
  part = number;
  part_left = stream->parts[part].beats;
  enter_leg(0);
}

void BankState::BankFlow::enter_leg(std::uint32_t number) {
  const RegionBeats::Leg& entered = stream->parts[part].region->legs()[number];
  leg = number;
  leg_left = entered.beats;
  table = &entered.table;
  beat = 0;
}

std::uint32_t BankState::insert(const BankFlow& flow) {
  const auto before = [](const BankFlow& a, const BankFlow& b) {
    return a.port != b.port ? a.port < b.port : a.slot < b.slot;
  };
  const auto at = flows_.insert(std::upper_bound(flows_.begin(), flows_.end(), flow, before), flow);
  return static_cast<std::uint32_t>(at - flows_.begin());
}

void BankState::add(const BankFlow& flow, std::uint32_t last) {
  const std::uint32_t index = insert(flow);
  const auto port = std::lower_bound(ports_.all.begin(), ports_.all.end(), flow.port,
                                     [](const BankPort& p, std::uint32_t number) { return p.port < number; });
  const auto port_index = static_cast<std::uint32_t>(port - ports_.all.begin());
  for (BankPort& p : ports_.all) {
    if (p.flow != kNone && p.flow >= index) ++p.flow;
  }
  if (port == ports_.all.end() || port->port != flow.port) {
    BankPort fresh;
    fresh.port = flow.port;
    fresh.last = last;
    ports_.all.insert(port, fresh);
    for (std::uint32_t& h : ports_.holding) h += h >= port_index ? 1 : 0;
  }
  regroup();
}

std::uint32_t BankState::remove(std::uint32_t slot) {
  const auto flow = std::find_if(flows_.begin(), flows_.end(), [slot](const BankFlow& f) { return f.slot == slot; });
  const auto index = static_cast<std::uint32_t>(flow - flows_.begin());
  std::uint32_t last = kNone;
  for (std::uint32_t p = 0; p < ports_.all.size(); ++p) {
    if (ports_.all[p].port == flow->port) last = ports_.all[p].last;
    if (ports_.all[p].flow != index) continue;
    ports_.all[p].flow = kNone;
    ports_.holding.erase(std::find(ports_.holding.begin(), ports_.holding.end(), p));
  }
  flow->part_left = 0;
  drop_ended();
  return last;
}

void BankState::run(std::uint64_t cycles, std::vector<FlowStep>& steps) {
  steps.clear();
  steps.reserve(flows_.size());
  for (const BankFlow& flow : flows_) steps.push_back({flow.slot, flow.port, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  std::uint64_t cycle = 0;
  bool ended = false;
  while (cycle < cycles) {
    const std::uint64_t next = present(cycle);
    if (ports_.holding.empty()) {
      cycle = std::min(cycles, next);
      continue;
    }
    ended |= grant(cycle, steps);
    ++cycle;
  }
  for (const BankPort& port : ports_.all) steps[port.first].held = port.held;
  settle(cycles, steps);
  if (ended) drop_ended();
}

// Gives ports without a beat their next one. Returns the earliest time of a later request.
std::uint64_t BankState::present(std::uint64_t cycle) {
  std::uint64_t next = UINT64_MAX;
  for (std::uint32_t p = 0; p < ports_.all.size(); ++p) {
    BankPort& port = ports_.all[p];
    if (port.flow != kNone || port.live == 0) continue;
    const std::uint32_t chosen = next_flow(port, cycle, next);
    if (chosen == kNone) continue;
    const BankFlow& flow = flows_[chosen];
    const std::uint64_t* masks = flow.table->begin(flow.beat);
    port.flow = chosen;
    port.last = flow.slot;
    port.wants = masks[0];
    if (const std::uint32_t n = flow.table->masks(flow.beat); n > 1) port.more.assign(masks + 1, masks + n);
    ports_.holding.push_back(p);
  }
  return next;
}

std::uint32_t BankState::next_flow(const BankPort& port, std::uint64_t cycle, std::uint64_t& next) const {
  const auto now = static_cast<std::int64_t>(cycle);
  const std::uint32_t n = port.end - port.first;
  std::uint32_t i = port.first;
  while (n > 1 && port.last != kNone && i < port.end && flows_[i].slot <= port.last) ++i;
  for (std::uint32_t k = 0; k < n; ++k, ++i) {
    if (i == port.end) i = port.first;
    const BankFlow& flow = flows_[i];
    if (flow.part_left == 0) continue;
    if (flow.release < (now + 1) * kPaceSteps) return i;
    next = std::min(next, static_cast<std::uint64_t>(flow.release / kPaceSteps));
  }
  return kNone;
}

// Simulates one cycle of the banks. Returns whether a flow has ended.
bool BankState::grant(std::uint64_t cycle, std::vector<FlowStep>& steps) {
  std::uint64_t taken = 0;
  std::size_t left = 0;
  bool ended = false;
  for (const std::uint32_t p : ports_.holding) {
    BankPort& port = ports_.all[p];
    std::uint64_t granted = port.wants & ~taken;
    taken |= granted;
    port.wants &= ~granted;
    if (!port.more.empty()) {  // a further word of the same bank moves up
      std::uint64_t* lower = &port.wants;
      for (std::uint64_t& more : port.more) {
        const std::uint64_t up = more & granted;
        *lower |= up;
        more &= ~up;
        granted = up;
        lower = &more;
      }
      while (!port.more.empty() && port.more.back() == 0) port.more.pop_back();
    }
    if (port.wants == 0) {
      ended |= beat_done(port, cycle, steps);
    } else {
      ++port.held;
      ports_.holding[left++] = p;
    }
  }
  ports_.holding.resize(left);
  return ended;
}

// Returns whether it was the flow's last beat.
bool BankState::beat_done(BankPort& port, std::uint64_t cycle, std::vector<FlowStep>& steps) {
  BankFlow& flow = flows_[port.flow];
  ++flow.done;
  flow.release += flow.gap;
  if (--flow.part_left == 0) {
    if (flow.last_part()) {
      steps[port.flow].end = static_cast<std::uint32_t>(cycle + 1);
      port.flow = kNone;
      --port.live;
      return true;
    }
    flow.enter_part(flow.part + 1);
  } else if (--flow.leg_left == 0) {
    flow.enter_leg(flow.leg + 1 < flow.stream->parts[flow.part].region->legs().size() ? flow.leg + 1 : 0);
  } else if (++flow.beat == flow.table->beats()) {
    flow.beat = 0;
  }
  port.flow = kNone;
  return false;
}

// Moves the time origin to the end of the simulated cycles and fills the steps.
void BankState::settle(std::uint64_t cycles, std::vector<FlowStep>& steps) {
  auto step = steps.begin();
  for (BankFlow& flow : flows_) {
    if (flow.gap > 0) flow.release -= static_cast<std::int64_t>(cycles) * kPaceSteps;
    step->beats = flow.done;
    step->beat = flow.beat;
    step->part = flow.part;
    step->leg = flow.leg;
    step->leg_left = flow.leg_left;
    step->part_left = flow.part_left;
    step->release = flow.release;
    flow.done = 0;
    ++step;
  }
  for (BankPort& port : ports_.all) port.held = 0;
}

void BankState::drop_ended() {
  std::uint32_t kept = 0;
  for (BankPort& port : ports_.all) {
    for (std::uint32_t i = port.first; i < port.end; ++i) {
      if (flows_[i].part_left == 0) continue;
      if (port.flow == i) port.flow = kept;
      flows_[kept++] = flows_[i];
    }
  }
  flows_.resize(kept);
  regroup();
  for (std::uint32_t p = static_cast<std::uint32_t>(ports_.all.size()); p-- > 0;) {
    if (ports_.all[p].live > 0) continue;
    ports_.all.erase(ports_.all.begin() + p);
    for (std::uint32_t& h : ports_.holding) h -= h > p ? 1 : 0;
  }
}

void BankState::regroup() {
  std::uint32_t i = 0;
  for (BankPort& port : ports_.all) {
    port.first = i;
    while (i < flows_.size() && flows_[i].port == port.port) ++i;
    port.end = i;
    port.live = i - port.first;
  }
}

void BankState::key(std::vector<std::uint64_t>& words) const {
  const auto add = [&words](std::uint64_t a, std::uint64_t b = 0) { words.push_back(a | b << 32); };
  words.clear();
  add(flows_.size(), ports_.all.size());
  for (const BankFlow& f : flows_) {
    const bool goes_on = f.part_left <= kHop && !f.last_part();  // then the next part has an effect as well
    const std::uint64_t left = std::min(f.leg_left, kHop + 1) << 16 | std::min(f.part_left, kHop + 1);
    const unsigned kinds = (f.gap > 0 ? 1 : 0) | (f.late() ? 2 : 0) | (goes_on ? 4 : 0) | (f.last_part() ? 8 : 0);
    add(f.slot, f.port);
    add(f.stream->parts[f.part].region_number, f.beat);
    add(left, f.leg << 4 | kinds);
    if (goes_on) add(f.stream->number, f.part);
    if (f.gap > 0) words.push_back(static_cast<std::uint64_t>(f.gap));
    if (f.gap > 0 && !f.late()) words.push_back(static_cast<std::uint64_t>(f.release));
  }
  for (const BankPort& p : ports_.all) {
    add(p.last, p.flow);
    if (p.flow == kNone) continue;
    words.push_back(p.wants);
    words.push_back(p.more.size());
    words.insert(words.end(), p.more.begin(), p.more.end());
  }
  for (const std::uint32_t p : ports_.holding) add(p);
}

}  // namespace attnvp
