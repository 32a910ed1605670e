// The DMA: copies of all channels one after the other over the bus that clusters share, and through L1.
#include <algorithm>
#include <tuple>

#include "mapping/cluster.h"

namespace attnvp::mapping {

// A channel with the buses to itself, or a command that copies nothing.
void Cluster::copy_alone(Line& l, std::uint32_t id, const Entry& e) {
  const Recording::Command& d = r_.commands[e.command];
  const Cost& cost = costs_.of(d.cost);
  ++l.next;
  l.copied = std::max(l.copied, now_);
  const auto cross = [&](double& free, double cycles) {
    if (cycles == 0 || cost.shared) return;
    free = std::max(free, now_ + cost.latency) + cycles;
    l.copied = std::max(l.copied, free);
  };
  if (d.transfer) {
    cross(l.dram_free, cost.dram);
    cross(l.l2_free, cost.l2);
  }
  plan(l.copied, Happens::kSignal, e.command);
  plan(now_, Happens::kLine, id);
}

// One transfer after the other, those that can wait last, otherwise the one that was written first.
void Cluster::issue() {
  if (issuing_) return;
  std::uint32_t chosen = kProcessor;
  std::tuple<bool, double, std::uint32_t> best;
  for (std::uint32_t id = dma_; id < lines_.size(); ++id) {
    const Line& l = lines_[id];
    if (!l.ready) continue;
    const Entry& e = l.entries[l.next];
    const std::tuple<bool, double, std::uint32_t> age{r_.commands[e.command].deferrable, e.issued, e.command};
    if (chosen == kProcessor || age < best) {
      best = age;
      chosen = id;
    }
  }
  if (chosen == kProcessor) return;
  Line& l = lines_[chosen];
  const std::uint32_t command = l.entries[l.next].command;
  const Cost& c = costs_.of(r_.commands[command].cost);
  const double arrival = now_ + c.latency;
  const Copy copy{command, arrival, c.bus * share_, c.bursts, c.drain};
  l.ready = false;
  ++l.next;
  issuing_ = true;
  issued_ = chosen;
  alone_free_ = std::max(alone_free_, arrival) + std::max(copy.bursts, copy.bus);
  if (copies_.empty()) plan(std::max(bus_free_, arrival), Happens::kBegin, 0);
  copies_.push_back(copy);
  chosen_ += copy.bus;
  lead_ = std::max(window_, c.latency);
  next_at_ = chosen_ - window_ * share_;
  if (next_at_ <= done_ || (under_way_ && next_within() <= bus_.served(number_))) {
    plan(std::max(now_, alone_free_ - lead_), Happens::kIssue, issued_);
  } else if (under_way_) {
    bus_.tell(number_, next_within());
  }
}

// The next one is issued when the last bursts of those before are under way.
double Cluster::next_within() const {
  return next_at_ <= done_ + copies_.front().bus ? next_at_ - done_ : SharedBus::kNotTold;
}

void Cluster::begin() {
  under_way_ = true;
  began_ = now_;
  const Copy& copy = copies_.front();
  bus_.begin(number_, copy.bus, issuing_ && next_at_ > done_ ? next_within() : SharedBus::kNotTold);
  const auto bytes = static_cast<std::uint64_t>(cost_of(copy.command).l1_bytes);
  const auto pace = static_cast<std::uint64_t>(std::max(std::max(copy.bus, copy.bursts) - 1, 0.0));
  if (dma_shares_ && bytes > 0) l1_.open(dma_ * kStages, dma_, {bytes, pace});
}

void Cluster::end() {
  under_way_ = false;
  done_ += copies_.front().bus;
  if (!l1_.crosses(dma_ * kStages)) copied();
}

// Over the bus and through L1.
void Cluster::copied() {
  if (under_way_) return;
  const Copy copy = copies_.front();
  copies_.pop_front();
  bus_free_ = std::max(now_, began_ + copy.bursts);
  plan(bus_free_ + copy.drain, Happens::kSignal, copy.command);
  if (!copies_.empty()) plan(std::max(bus_free_, copies_.front().arrival), Happens::kBegin, 0);
}

}  // namespace attnvp::mapping
