#include "mapping/replay.h"

#include <algorithm>
#include <deque>
#include <tuple>
#include <utility>

#include "firmware/hal/job.h"
#include "mapping/shared_bus.h"

namespace attnvp::mapping {

namespace {

constexpr std::uint32_t kProcessor = 0xFFFF'FFFF;  // in place of a line's number

struct Entry {  // a command in a queue
  std::uint32_t command = 0;
  double issued = 0;  // when firmware has written it
};

// A queue and what takes commands out of it.
struct Line {
  Unit unit = Unit::kMac;
  std::vector<Entry> entries;
  std::size_t next = 0;                // the one that waits for tokens, or for its turn
  std::size_t gone = 0, room = 0;      // out of the queue, and how many there may be in it
  bool full = false;                   // the processor waits for it
  std::uint32_t wait = 0, within = 0;  // its event reference and, in that, event
  bool ready = false;                  // DMA: it has its tokens and waits for the bus
  bool asleep = true;                  // nothing will wake it but a new command, or tokens
  // Engines: the descriptor before, stage by stage.
  double fetched = 0, buffer_free = 0, executed = 0, drained = 0;
  double dram_free = 0, l2_free = 0, copied = 0;  // DMA channel with the buses to itself
};

struct Event {
  std::uint32_t tokens = 0;
  std::uint32_t waiting = 0;        // lines,
  std::uint32_t line[4] = {};       //   the first ones of them;
  std::vector<std::uint32_t> more;  // the others
};

class Cluster {
 public:
  Cluster(std::uint32_t number, const Recording& recording, const Costs& costs, Contention contention, double share,
          Agenda& agenda, SharedBus& shared)
      : number_(number),
        r_(recording),
        costs_(costs),
        m_(costs.machine()),
        bound_(contention == Contention::kBound),
        share_(share),
        agenda_(agenda),
        shared_(shared) {
    events_.resize(m_.events.events);
    port_free_.resize(m_.l1.ports);
    lines_.resize(2 * std::size_t{m_.cores} + m_.dma.channels);
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      lines_[i].room = i >= 2 * std::size_t{m_.cores} ? m_.dma.queue_depth
                       : i % 2 == 1                   ? m_.vec.queue_depth
                                                      : m_.mac.queue_depth;
    }
    for (const Queue& q : r_.asked) lines_[line_of(q)].room = ~std::size_t{0};
    window_ = m_.dma.outstanding * m_.dma.burst_bytes / (m_.dram.bytes_per_second / m_.clock_hz);
    const double access = m_.control.access_cycles;
    beat_ = access / m_.control.bus_bytes;
    boot_ = beat_ * sizeof(hal::JobBlock);
    push_ = beat_ * hal::kDescriptorBytes + access;
  }

  void happen(const Happening& h) {
    now_ = h.time;
    switch (h.what) {
      case Happens::kLine:
        return line(h.id);
      case Happens::kSignal:
        last_ = now_;
        return signal(r_.commands[h.id]);
      case Happens::kIssue:
        line(h.id);
        issuing_ = false;
        return issue();
      case Happens::kBegin:
        return begin();
      case Happens::kCpu:
        return processor();
      case Happens::kMark:
        return;
    }
  }
  void served(bool over) {
    now_ = agenda_.now();
    if (over) {
      end();
    } else {
      plan(std::max(now_, alone_free_ - window_), Happens::kIssue, issued_);
    }
  }

  // Tokens that another cluster gives are there at once.
  bool release_processor() {
    if (step_ == r_.steps.size() || r_.steps[step_].kind != Recording::Kind::kTake || m_.clusters == 1) return false;
    Event& e = events_[r_.steps[step_].event];
    if (e.tokens >= r_.steps[step_].tokens) return false;
    e.tokens = r_.steps[step_].tokens;
    plan(now_, Happens::kCpu, 0);
    return true;
  }

  Replay result() const {
    const bool finished = step_ == r_.steps.size() && possible_;
    // Of a part of a stream nobody waits for the end.
    return {finished ? std::max(end_, r_.complete ? 0.0 : last_) : kNever, finished};
  }

 private:
  void plan(double time, Happens what, std::uint32_t id) { agenda_.plan(time, what, number_, id); }

  std::uint32_t line_of(const Queue& q) const {
    return q.unit == Unit::kDma ? 2 * m_.cores + q.index : 2 * q.index + (q.unit == Unit::kVec ? 1 : 0);
  }

  // What firmware takes by itself.
  double own_time(std::uint64_t bus_bytes, std::uint64_t commands) const {
    return beat_ * static_cast<double>(bus_bytes) + costs_.control() * static_cast<double>(commands);
  }

  // Until it has to wait for tokens.
  void processor() {
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
        stalled_ += std::max(now_ - at, 0.0);
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
        l.entries.push_back({s.command, bound_ ? std::max(own, stalled_) : std::max(at, now_)});
        if (!bound_) stalled_ += std::max(now_ - at, 0.0);
        if (l.asleep) wake(id, l.entries.back().issued);
      }
    }
    end_ = std::max(now_, bound_ ? boot_ : own_time(r_.bus_bytes, r_.commands.size()) + stalled_);
  }

  void wake(std::uint32_t id, double time) {
    lines_[id].asleep = false;
    plan(std::max(time, now_), Happens::kLine, id);
  }

  void give(std::uint32_t event, std::uint32_t tokens) {
    Event& e = events_[event];
    e.tokens += tokens;
    const std::uint32_t waiting = std::exchange(e.waiting, 0U);
    for (std::uint32_t i = 0; i < waiting; ++i) {
      const std::uint32_t id = i < 4 ? e.line[i] : e.more[i - 4];
      plan(now_, id == kProcessor ? Happens::kCpu : Happens::kLine, id);
    }
    if (waiting > 4) e.more.clear();
  }

  static void await(Event& e, std::uint32_t id) {
    if (e.waiting < 4) {
      e.line[e.waiting] = id;
    } else {
      e.more.push_back(id);
    }
    ++e.waiting;
  }

  void signal(const Recording::Command& c) {
    for (const hal::EventRef& s : c.signal) {
      if (s.tokens() == 0) continue;
      for (std::uint32_t e = s.first(); e < s.first() + s.span() && e < events_.size(); ++e) give(e, s.tokens());
    }
  }

  // The next command's tokens, as far as they are there. False: it waits for more.
  bool take(Line& l, std::uint32_t id, const Recording::Command& d) {
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

  void leave_queue(Line& l, std::size_t gone) {
    l.gone = gone;
    if (std::exchange(l.full, false)) plan(now_, Happens::kCpu, 0);
  }

  void line(std::uint32_t id) {
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
    if (!bound_ && d.transfer) {
      l.ready = true;
      leave_queue(l, l.next + 1);
      return issue();
    }
    ++l.next;
    if (d.transfer) {
      l.copied = std::max(l.copied, now_);
      const auto cross = [&](double& free, double cycles) {
        if (cycles == 0 || cost.shared) return;
        free = std::max(free, now_ + cost.latency) + cycles;
        l.copied = std::max(l.copied, free);
      };
      cross(l.dram_free, cost.dram);
      cross(l.l2_free, cost.l2);
      plan(l.copied, Happens::kSignal, e.command);
    } else {
      plan(std::max(l.copied, now_), Happens::kSignal, e.command);
    }
    plan(now_, Happens::kLine, id);
  }

  void engine(Line& l, std::uint32_t id, std::uint32_t command, const Cost& c) {
    double start = std::max(now_, l.buffer_free);
    if (c.after_previous) start = std::max(start, l.drained);
    if (bound_) {
      l.fetched = start;
      l.buffer_free = std::max(l.fetched, l.executed);
      l.executed = l.buffer_free + c.pace;
      l.drained = std::max(l.executed + c.pipeline, l.drained);
    } else {
      const double moved = through_l1(id, c.l1_bytes);
      l.fetched = start + c.fill;
      l.buffer_free = std::max(l.fetched, l.executed) + c.body;
      l.executed = std::max(l.buffer_free + c.last, moved);
      l.drained = std::max(l.executed + c.pipeline, l.drained) + c.drain;
    }
    plan(l.drained, Happens::kSignal, command);
    ++l.next;
    plan(l.fetched, Happens::kLine, id);
  }

  // When the bytes have gone over the initiator's port, which it may share, and through the banks, which all share:
  // behind those of the commands that began before.
  double through_l1(std::uint32_t initiator, double bytes) {
    double& port = port_free_[initiator % port_free_.size()];
    port = std::max(port, now_) + bytes / m_.l1.port_bytes_per_cycle;
    banks_free_ = std::max(banks_free_, now_) + bytes / (1.0 * m_.l1.banks * m_.l1.bank_bytes_per_cycle);
    return std::max(port, banks_free_);
  }

  // One transfer after the other, those that can wait last, otherwise the one that was written first.
  void issue() {
    if (issuing_) return;
    std::uint32_t chosen = kProcessor;
    std::tuple<bool, double, std::uint32_t> best;
    for (std::uint32_t id = 2 * m_.cores; id < lines_.size(); ++id) {
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
    const Copy copy{command, arrival, c.bus * share_, c.bursts, through_l1(2 * m_.cores, c.l1_bytes), c.drain};
    l.ready = false;
    ++l.next;
    issuing_ = true;
    issued_ = chosen;
    alone_free_ = std::max(std::max(alone_free_, arrival) + std::max(copy.bursts, copy.bus), copy.l1_free);
    if (copies_.empty()) plan(std::max(bus_free_, arrival), Happens::kBegin, 0);
    copies_.push_back(copy);
    chosen_ += copy.bus;
    next_at_ = chosen_ - window_ * share_;
    if (next_at_ <= done_) {
      plan(std::max(now_, alone_free_ - window_), Happens::kIssue, issued_);
    } else if (under_way_) {
      mark_next();
    }
  }
  // The next one is issued when the last bursts of those before are under way.
  void mark_next() {
    if (next_at_ <= done_ + copies_.front().bus) shared_.mark({began_at_ + (next_at_ - done_), number_, false});
  }
  void begin() {
    under_way_ = true;
    began_ = now_;
    shared_.enter();
    began_at_ = shared_.served();
    if (issuing_ && next_at_ > done_) mark_next();
    shared_.mark({began_at_ + copies_.front().bus, number_, true});
  }
  void end() {
    const Copy copy = copies_.front();
    copies_.pop_front();
    under_way_ = false;
    shared_.leave();
    done_ += copy.bus;
    bus_free_ = std::max({now_, began_ + copy.bursts, copy.l1_free});
    plan(bus_free_ + copy.drain, Happens::kSignal, copy.command);
    if (!copies_.empty()) plan(std::max(bus_free_, copies_.front().arrival), Happens::kBegin, 0);
  }

  struct Copy {  // that the DMA has chosen
    std::uint32_t command;
    double arrival;  // of its first burst at the bus
    double bus, bursts, l1_free, drain;
  };

  std::uint32_t number_;
  const Recording& r_;
  const Costs& costs_;
  const MachineConfig& m_;
  bool bound_, possible_ = true;
  double share_;  // of the bus: one in so many bytes is this cluster's
  Agenda& agenda_;
  SharedBus& shared_;
  double window_ = 0;  // cycles of the bus for all bursts that may be under way
  double beat_ = 0, boot_ = 0, push_ = 0;
  std::vector<Line> lines_;  // MAC and VEC of each core, then the DMA's channels
  std::vector<Event> events_;
  double now_ = 0;
  // The DMA: copies on their way, one after the other; a cycle of the bus is what it carries in it.
  std::deque<Copy> copies_;
  bool under_way_ = false;         // the first of them
  double began_ = 0;               // when,
  double began_at_ = 0;            //   and what the bus had served
  double bus_free_ = 0;            // from the last one that is over
  double alone_free_ = 0;          // from all, were there no other clusters
  double chosen_ = 0, done_ = 0;   // cycles of the bus for all, and for those that are over
  bool issuing_ = false;           // the last one that was chosen has bursts to issue,
  double next_at_ = 0;             //   until so many of `chosen_` are served
  std::uint32_t issued_ = 0;       // its line
  std::vector<double> port_free_;  // of L1
  double banks_free_ = 0;
  std::size_t step_ = 0;       // of the processor
  double stalled_ = 0;         // cycles it has waited for tokens; bound: when it last had them
  double end_ = 0, last_ = 0;  // of firmware, of what was done
};

}  // namespace

Replay replay(const std::vector<const Recording*>& clusters, const Costs& costs, Contention contention, double share) {
  const MachineConfig& m = costs.machine();
  const double burst = m.dma.burst_bytes / (m.dram.bytes_per_second / m.clock_hz);
  Agenda agenda;
  SharedBus bus(agenda);
  std::vector<Cluster> all;
  all.reserve(clusters.size());
  for (const Recording* r : clusters) {
    all.emplace_back(static_cast<std::uint32_t>(all.size()), *r, costs, contention, share, agenda, bus);
    // One after the other, by a burst each: those in step would stay so, where the bus has them drift apart.
    agenda.plan(static_cast<double>(all.size() - 1) * burst, Happens::kCpu, static_cast<std::uint32_t>(all.size() - 1),
                0);
  }
  const auto released = [&] {
    return std::count_if(all.begin(), all.end(), [](Cluster& c) { return c.release_processor(); }) > 0;
  };
  while (!agenda.empty() || released()) {
    const Happening h = agenda.next();
    Mark mark{};
    if (h.what != Happens::kMark) {
      all[h.cluster].happen(h);
    } else if (bus.reached(h.id, mark)) {
      all[mark.cluster].served(mark.over);
    }
  }
  Replay longest;
  for (const Cluster& c : all) {
    const Replay r = c.result();
    longest.cycles = std::max(longest.cycles, r.cycles);
    longest.finished = longest.finished && r.finished;
  }
  return longest;
}

Replay replay(const Recording& recording, const Costs& costs, Contention contention, double share) {
  return replay(std::vector<const Recording*>{&recording}, costs, contention, share);
}

}  // namespace attnvp::mapping
