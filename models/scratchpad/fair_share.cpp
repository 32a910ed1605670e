#include "models/scratchpad/fair_share.h"

#include <algorithm>

#include "models/whole.h"

namespace attnvp {

namespace {
constexpr double kSlack = 1e-9;  // relative: sums of rates are not exact
}

FairShare::FairShare(std::uint32_t ports, double port_rate, double total_rate)
    : port_rate_(port_rate),
      total_rate_(total_rate),
      best_rate_(std::min(port_rate, total_rate)),
      port_most_(port_rate * (1 + kSlack)),
      total_most_(total_rate * (1 + kSlack)),
      port_demand_(ports, 0.0),
      port_left_(ports, 0.0),
      users_(ports, 0) {}

std::uint64_t FairShare::alone_cycles(std::uint64_t bytes, std::uint64_t pace) const {
  const std::uint64_t cycles = whole_above(static_cast<double>(bytes) / best_rate_ - kSlack);
  return std::max({pace, cycles, std::uint64_t{1}});
}

std::size_t FairShare::open(std::uint64_t now, std::uint32_t port, std::uint64_t bytes, std::uint64_t pace) {
  std::size_t slot = 0;
  while (slot < flows_.size() && flows_[slot].active) ++slot;
  if (slot == flows_.size()) flows_.emplace_back();

  Flow& flow = flows_[slot];
  const std::uint64_t cycles = alone_cycles(bytes, pace);
  flow.active = true;
  flow.port = port;
  flow.cap = 0;
  flow.remaining = static_cast<double>(bytes);
  flow.since = now;
  flow.pace_end = flow.finish = now + cycles;
  ask(flow, static_cast<double>(bytes) / static_cast<double>(cycles));
  flow.rate = flow.cap;
  ++active_;

  moved_.clear();
  if (contended_ || !at_cap(port)) reallocate(now);  // the other ports were
  if (!moved_.empty()) moved_.erase(std::remove(moved_.begin(), moved_.end(), slot), moved_.end());
  return slot;
}

void FairShare::close(std::uint64_t now, std::size_t slot) {
  Flow& flow = flows_[slot];
  flow.active = false;
  ask(flow, 0);
  if (--active_ == 0) {  // nobody left: forget the rounding of the sums
    demand_ = 0;
    std::fill(port_demand_.begin(), port_demand_.end(), 0.0);
  }
  moved_.clear();
  if (contended_) reallocate(now);
}

void FairShare::ask(Flow& flow, double cap) {
  port_demand_[flow.port] += cap - flow.cap;
  demand_ += cap - flow.cap;
  flow.cap = cap;
}

bool FairShare::at_cap(std::uint32_t port) const { return demand_ <= total_most_ && port_demand_[port] <= port_most_; }

bool FairShare::everyone_at_cap() const {
  return demand_ <= total_most_ &&
         std::all_of(port_demand_.begin(), port_demand_.end(), [this](double d) { return d <= port_most_; });
}

void FairShare::reallocate(std::uint64_t now) {
  for (Flow& f : flows_) {
    if (!f.active) continue;
    f.remaining = std::max(0.0, f.remaining - f.rate * static_cast<double>(now - f.since));
    f.since = now;
    // What brings it back on time; a flow that is on time asks for what it asked before.
    const double left = f.pace_end > now ? static_cast<double>(f.pace_end - now) : 1.0;
    ask(f, std::min(std::max(f.cap, f.remaining / left), best_rate_));
  }
  contended_ = !everyone_at_cap();
  if (contended_) {
    progressive_fill();
  } else {
    for (Flow& f : flows_) f.rate = f.cap;
  }
  for (std::size_t i = 0; i < flows_.size(); ++i) {
    Flow& f = flows_[i];
    if (!f.active) continue;
    const double cycles = f.remaining > 0 ? f.remaining / f.rate : 0.0;
    std::uint64_t finish = now + whole_above(cycles * (1 - kSlack) - kSlack);
    if (finish < f.pace_end) finish = std::max(now, f.pace_end);  // nothing to move, or nothing left
    if (finish == f.finish) continue;
    f.finish = finish;
    moved_.push_back(i);
  }
}

// Max-min fairness: raise every rate together until a cap, a port or the banks bind; what binds is frozen, the rest
// goes on.
void FairShare::progressive_fill() {
  std::fill(port_left_.begin(), port_left_.end(), port_rate_);
  std::fill(users_.begin(), users_.end(), 0U);
  for (Flow& f : flows_) {
    f.rate = -1;  // not frozen yet
    users_[f.port] += f.active ? 1 : 0;
  }
  double left = total_rate_;
  std::size_t open = active_;
  double level = 0;
  while (open > 0) {
    double step = left / static_cast<double>(open);
    for (const Flow& f : flows_) {
      if (f.active && f.rate < 0) step = std::min(step, f.cap - level);
    }
    for (std::size_t p = 0; p < users_.size(); ++p) {
      if (users_[p] > 0) step = std::min(step, port_left_[p] / users_[p]);
    }
    step = std::max(step, 0.0);
    level += step;
    left -= step * static_cast<double>(open);
    for (std::size_t p = 0; p < users_.size(); ++p) port_left_[p] -= step * users_[p];
    const bool banks_bind = left <= total_rate_ * kSlack;
    for (Flow& f : flows_) {
      if (!f.active || f.rate >= 0) continue;
      if (banks_bind || port_left_[f.port] <= port_rate_ * kSlack || f.cap - level <= f.cap * kSlack) {
        f.rate = level;
        --users_[f.port];
        --open;
      }
    }
  }
}

}  // namespace attnvp
