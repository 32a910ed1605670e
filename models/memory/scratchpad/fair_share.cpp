#include "models/memory/scratchpad/fair_share.h"

#include <algorithm>

#include "models/sim/whole.h"

namespace attnvp {

namespace {
constexpr double kSlack = 1e-9;  // relative: sums of rates are not exact
double with_slack(double rate) { return rate * (1 + kSlack); }
}  // namespace

FairShare::FairShare(std::uint32_t ports, double port_rate, double total_rate)
    : port_rate_(port_rate), best_rate_(std::min(port_rate, total_rate)), ports_(ports) {
  if (port_rate * ports > total_rate) {
    groups_.push_back({total_rate, 0, ports});
  } else {
    for (std::uint32_t i = 0; i < ports; ++i) groups_.push_back({port_rate, i, i + 1});
  }
}

std::uint64_t FairShare::alone_cycles(std::uint64_t bytes, std::uint64_t pace) const {
  const std::uint64_t cycles = whole_above(static_cast<double>(bytes) / best_rate_ - kSlack);
  return std::max({pace, cycles, std::uint64_t{1}});
}

std::size_t FairShare::open(std::uint64_t now, std::uint32_t port, std::uint64_t bytes, std::uint64_t pace) {
  std::size_t slot = 0;
  while (slot < flows_.size() && flows_[slot].active) ++slot;
  if (slot == flows_.size()) flows_.emplace_back();

  Flow& flow = flows_[slot];
  ShareGroup& group = groups_[group_of(port)];
  const std::uint64_t cycles = alone_cycles(bytes, pace);
  flow.active = true;
  flow.port = port;
  flow.cap = 0;
  flow.remaining = static_cast<double>(bytes);
  flow.since = now;
  flow.pace_end = flow.finish = now + cycles;
  ask(group, flow, static_cast<double>(bytes) / static_cast<double>(cycles));
  flow.rate = flow.cap;
  group.flows.push_back(slot);

  moved_.clear();
  if (group.contended || !at_cap(group, port)) reallocate(group, now);  // otherwise the other ports keep their rates
  if (!moved_.empty()) moved_.erase(std::remove(moved_.begin(), moved_.end(), slot), moved_.end());
  return slot;
}

void FairShare::close(std::uint64_t now, std::size_t slot) {
  Flow& flow = flows_[slot];
  ShareGroup& group = groups_[group_of(flow.port)];
  flow.active = false;
  ask(group, flow, 0);
  *std::find(group.flows.begin(), group.flows.end(), slot) = group.flows.back();
  group.flows.pop_back();
  if (group.flows.empty()) {  // clears rounding errors of the sums
    group.demand = 0;
    for (std::size_t p = group.first; p < group.end; ++p) ports_[p].demand = 0;
  }
  moved_.clear();
  if (group.contended) reallocate(group, now);
}

bool FairShare::visit_state(sim::StateVisitor& visitor) const {
  for (const ShareGroup& group : groups_) {
    visitor.value(group.demand);
    visitor.value(group.contended);
    visitor.value(group.flows.size());
    for (const std::size_t slot : group.flows) {
      const Flow& f = flows_[slot];
      visitor.value(slot);
      visitor.value(f.port);
      for (const double rate : {f.cap, f.rate, f.remaining}) visitor.value(rate);
      for (const std::uint64_t cycle : {f.since, f.pace_end, f.finish}) visitor.at(cycle);
    }
  }
  for (const SharePort& port : ports_) visitor.value(port.demand);
  return true;
}

void FairShare::ask(ShareGroup& group, Flow& flow, double cap) {
  ports_[flow.port].demand += cap - flow.cap;
  group.demand += cap - flow.cap;
  flow.cap = cap;
}

bool FairShare::at_cap(const ShareGroup& group, std::uint32_t port) const {
  return group.demand <= with_slack(group.rate) && ports_[port].demand <= with_slack(port_rate_);
}

bool FairShare::everyone_at_cap(const ShareGroup& group) const {
  for (std::size_t p = group.first; p < group.end; ++p) {
    if (ports_[p].demand > with_slack(port_rate_)) return false;
  }
  return group.demand <= with_slack(group.rate);
}

void FairShare::reallocate(ShareGroup& group, std::uint64_t now) {
  for (const std::size_t slot : group.flows) {
    Flow& f = flows_[slot];
    f.remaining = std::max(0.0, f.remaining - f.rate * static_cast<double>(now - f.since));
    f.since = now;
    // Rate that restores the pace; a flow without delay keeps its cap.
    const double left = f.pace_end > now ? static_cast<double>(f.pace_end - now) : 1.0;
    ask(group, f, std::min(std::max(f.cap, f.remaining / left), best_rate_));
    f.rate = f.cap;
  }
  group.contended = !everyone_at_cap(group);
  if (group.contended) progressive_fill(group);
  for (const std::size_t slot : group.flows) {
    Flow& f = flows_[slot];
    const double cycles = f.remaining > 0 ? f.remaining / f.rate : 0.0;
    std::uint64_t finish = now + whole_above(cycles * (1 - kSlack) - kSlack);
    if (finish < f.pace_end) finish = std::max(now, f.pace_end);  // nothing to move, or nothing left
    if (finish == f.finish) continue;
    f.finish = finish;
    moved_.push_back(slot);
  }
  if (moved_.size() > 1) std::sort(moved_.begin(), moved_.end());
}

// Progressive filling (max-min fairness): all rates rise together until a cap, a port or the banks limit them. Limited
// rates are frozen; the others rise further.
void FairShare::progressive_fill(ShareGroup& group) {
  for (std::size_t p = group.first; p < group.end; ++p) ports_[p] = {ports_[p].demand, port_rate_, 0};
  for (const std::size_t slot : group.flows) {
    flows_[slot].rate = -1;  // not frozen
    ++ports_[flows_[slot].port].users;
  }
  double left = group.rate;
  std::size_t open = group.flows.size();
  double level = 0;
  while (open > 0) {
    double step = left / static_cast<double>(open);
    for (const std::size_t slot : group.flows) {
      if (flows_[slot].rate < 0) step = std::min(step, flows_[slot].cap - level);
    }
    for (std::size_t p = group.first; p < group.end; ++p) {
      if (ports_[p].users > 0) step = std::min(step, ports_[p].left / ports_[p].users);
    }
    step = std::max(step, 0.0);
    level += step;
    left -= step * static_cast<double>(open);
    for (std::size_t p = group.first; p < group.end; ++p) ports_[p].left -= step * ports_[p].users;
    const bool banks_bind = left <= group.rate * kSlack;
    for (const std::size_t slot : group.flows) {
      Flow& f = flows_[slot];
      if (f.rate >= 0) continue;
      if (banks_bind || ports_[f.port].left <= port_rate_ * kSlack || f.cap - level <= f.cap * kSlack) {
        f.rate = level;
        --ports_[f.port].users;
        --open;
      }
    }
  }
}

}  // namespace attnvp
