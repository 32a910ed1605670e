#include "mapping/cluster.h"

#include <algorithm>
#include <utility>

#include "firmware/hal/job.h"

namespace attnvp::mapping {

Cluster::Cluster(std::uint32_t number, const Recording& recording, const Costs& costs, Contention contention,
                 double share, Agenda& agenda, SharedBus& bus)
    : number_(number),
      r_(recording),
      costs_(costs),
      m_(costs.machine()),
      bound_(contention == Contention::kBound),
      share_(share),
      agenda_(agenda),
      bus_(bus),
      lines_(2 * std::size_t{m_.cores} + m_.dma.channels),
      events_(m_.events.events),
      l1_(m_.l1, 2 * m_.cores + 1, number, agenda),
      port_rate_(m_.l1.port_bytes_per_cycle),
      dma_(2 * m_.cores),
      dma_shares_(l1_.shared(dma_)) {
  for (std::uint32_t i = 0; i < lines_.size(); ++i) {
    lines_[i].room = i >= dma_ ? m_.dma.queue_depth : i % 2 == 1 ? m_.vec.queue_depth : m_.mac.queue_depth;
    if (i < dma_) lines_[i].stages.results.set_capacity(kResults);
    lines_[i].entries.reserve(2 * r_.commands.size() / lines_.size());  // of most
  }
  for (const Queue& q : r_.asked) lines_[line_of(q)].room = ~std::size_t{0};
  window_ = m_.dma.outstanding * m_.dma.burst_bytes / (m_.dram.bytes_per_second / m_.clock_hz);
  const double access = m_.control.access_cycles;
  beat_ = access / m_.control.bus_bytes;
  boot_ = beat_ * sizeof(hal::JobBlock);
  push_ = beat_ * hal::kDescriptorBytes + access;
  own_ = own_time(r_.bus_bytes, r_.commands.size());
  if (!r_.by_itself) return;  // then there may be commands that never run, and others' tokens come at any time
  for (std::size_t i = 0; i < std::min<std::size_t>(r_.busy.size(), dma_); ++i) {
    lines_[i].stages.ahead = r_.busy[i];
    agenda_.ends_after(r_.busy[i]);
  }
  bus_.expect(share_ * r_.bus);
}

void Cluster::happen(const Happening& h) {
  now_ = h.time;
  switch (h.what()) {
    case Happens::kLine:
      return line(h.id());
    case Happens::kSignal:
      last_ = now_;
      return signal(r_.commands[h.id()]);
    case Happens::kIssue:
      line(h.id());
      issuing_ = false;
      return issue();
    case Happens::kBegin:
      return begin();
    case Happens::kCpu:
      return processor();
    case Happens::kCrossed:
      if (std::uint32_t crosser = 0; l1_.over(h.id(), crosser)) crossed(crosser);
      return;
    case Happens::kPaced:
      return crossed(h.id());
    case Happens::kDrain:
      return drain(h.id());
    case Happens::kMark:
      return;
  }
}

void Cluster::served(bool over) {
  now_ = agenda_.now();
  if (over) {
    end();
  } else {
    plan(std::max(now_, alone_free_ - lead_), Happens::kIssue, issued_);
  }
}

bool Cluster::release_processor() {
  if (step_ == r_.steps.size() || r_.steps[step_].kind != Recording::Kind::kTake || m_.clusters == 1) return false;
  Event& e = events_[r_.steps[step_].event];
  if (e.tokens >= r_.steps[step_].tokens) return false;
  e.tokens = r_.steps[step_].tokens;
  plan(now_, Happens::kCpu, 0);
  return true;
}

Replay Cluster::result() const {
  const bool finished = step_ == r_.steps.size() && possible_;
  // Of a part of a stream nobody waits for the end.
  return {finished ? std::max(end_, r_.complete ? 0.0 : last_) : kNever, finished};
}

std::uint32_t Cluster::line_of(const Queue& q) const {
  return q.unit == Unit::kDma ? dma_ + q.index : 2 * q.index + (q.unit == Unit::kVec ? 1 : 0);
}

// What firmware takes by itself.
double Cluster::own_time(std::uint64_t bus_bytes, std::uint64_t commands) const {
  return beat_ * static_cast<double>(bus_bytes) + costs_.control() * static_cast<double>(commands);
}

// Until it has to wait for tokens.
void Cluster::processor() {
  for (; step_ < r_.steps.size(); ++step_) {
    const Recording::Step& s = r_.steps[step_];
    const double at = (bound_ ? 0 : own_time(s.bus_bytes, s.commands)) + stalled_;
    if (s.kind == Recording::Kind::kTake && s.event < events_.size()) {
      if (at > now_) return plan(at, Happens::kCpu, 0);
      Event& e = events_[s.event];
      if (e.tokens < s.tokens) {
        await(e, kProcessor);
        return;
      }
      e.tokens -= s.tokens;
      stall(now_ - at);
    } else if (s.kind == Recording::Kind::kGive && s.event < events_.size()) {
      give(s.event, s.tokens);
    } else if (s.kind == Recording::Kind::kCommand) {
      const std::uint32_t id = line_of(s.queue);
      if (id >= lines_.size()) continue;
      Line& l = lines_[id];
      l.unit = s.queue.unit;
      if (!bound_ && l.entries.size() - l.gone >= l.room) {
        l.full = true;
        return;
      }
      const double own = boot_ + push_ * static_cast<double>(l.entries.size() + 1);
      Entry& e = l.entries.emplace_back();
      e.command = s.command;
      e.issued = bound_ ? std::max(own, stalled_) : std::max(at, now_);
      if (!bound_) stall(now_ - at);
      if (l.asleep) wake(id, e.issued);
    }
  }
  end_ = std::max(now_, bound_ ? boot_ : own_ + stalled_);
}

void Cluster::stall(double cycles) {
  if (cycles <= 0) return;
  stalled_ += cycles;
  agenda_.ends_after(own_ + stalled_);
}

void Cluster::wake(std::uint32_t id, double time) {
  lines_[id].asleep = false;
  plan(std::max(time, now_), Happens::kLine, id);
}

void Cluster::give(std::uint32_t event, std::uint32_t tokens) {
  Event& e = events_[event];
  e.tokens += tokens;
  const std::uint32_t waiting = std::exchange(e.waiting, 0U);
  for (std::uint32_t i = 0; i < waiting; ++i) {
    const std::uint32_t id = i < 4 ? e.line[i] : e.more[i - 4];
    plan(now_, id == kProcessor ? Happens::kCpu : Happens::kLine, id);
  }
  if (waiting > 4) e.more.clear();
}

void Cluster::await(Event& e, std::uint32_t id) {
  if (e.waiting < 4) {
    e.line[e.waiting] = id;
  } else {
    e.more.push_back(id);
  }
  ++e.waiting;
}

void Cluster::signal(const Recording::Command& c) {
  for (const hal::EventRef& s : c.signal) {
    if (s.tokens() == 0) continue;
    for (std::uint32_t e = s.first(); e < s.first() + s.span() && e < events_.size(); ++e) give(e, s.tokens());
  }
}

// The next command's tokens, as far as they are there. False: it waits for more.
bool Cluster::take(Line& l, std::uint32_t id, const Recording::Command& d) {
  for (; l.wait < hal::kWaits; ++l.wait, l.within = 0) {
    const hal::EventRef& w = d.wait[l.wait];
    if (w.tokens() == 0) continue;
    for (; l.within < w.span(); ++l.within) {
      const std::uint32_t at = w.first() + l.within;
      if (at >= events_.size()) continue;
      Event& e = events_[at];
      if (e.tokens < w.tokens()) {
        await(e, id);
        return false;
      }
      e.tokens -= w.tokens();
    }
  }
  l.wait = l.within = 0;
  return true;
}

void Cluster::leave_queue(Line& l, std::size_t gone) {
  l.gone = gone;
  if (std::exchange(l.full, false)) plan(now_, Happens::kCpu, 0);
}

void Cluster::line(std::uint32_t id) {
  Line& l = lines_[id];
  if (l.ready) return;
  leave_queue(l, l.next);
  if (l.next == l.entries.size()) {
    l.asleep = true;
    return;
  }
  const Entry& e = l.entries[l.next];
  if (e.issued > now_) return plan(e.issued, Happens::kLine, id);
  const Recording::Command& d = r_.commands[e.command];
  if (!take(l, id, d)) return;
  const Cost& cost = costs_.of(d.cost);
  possible_ = possible_ && cost.possible;
  if (l.unit != Unit::kDma) return engine(l, id, e.command, cost);
  if (bound_ || !d.transfer) return copy_alone(l, id, e);
  l.ready = true;
  leave_queue(l, l.next + 1);
  issue();
}

}  // namespace attnvp::mapping
