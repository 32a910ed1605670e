// Transfers over the ports of a memory. A crossing has a start, possibly in the future, and an end, which moves as
// other crossings begin and end. An Arbiter gives the rates, which change only when a crossing begins or ends.
// Therefore
//   - a future crossing is opened before the next change, or when the state is read, instead of at its start;
//   - an uncontended crossing bypasses the arbiter, since its end is known.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "models/interconnect/bus/stream.h"
#include "models/sim/module.h"

namespace attnvp {

// Interface of arbiters of a memory's ports. Times are whole cycles; a transfer ends at the end of the cycle in which
// its last byte crosses the port. A flow is one transfer.
class Arbiter {
 public:
  virtual ~Arbiter() = default;
  // Minimum cycles of a flow, without contention.
  virtual std::uint64_t alone_cycles(std::uint64_t bytes, std::uint64_t pace) const = 0;
  // Starts a flow of `bytes` bytes of the stream's regions through `port`, spread evenly over at least `pace` cycles.
  // Returns its slot.
  virtual std::size_t open(std::uint64_t now, std::uint32_t port, std::uint64_t bytes, std::uint64_t pace,
                           const Stream& stream) = 0;
  virtual void close(std::uint64_t now, std::size_t slot) = 0;

  // Expected end of the flow; before that cycle it may still move to a later one.
  virtual std::uint64_t finish(std::size_t slot, std::uint64_t now) = 0;
  virtual double remaining(std::size_t slot, std::uint64_t now) = 0;  // bytes still to transfer
  // Currently granted bytes per cycle, by port.
  virtual void port_rates(std::vector<double>& rates) const = 0;
  virtual std::uint64_t bank_cycles(std::size_t /*slot*/) const { return 0; }
  // Slots whose end changed in the last open() or close(), without the opened one.
  const std::vector<std::size_t>& moved() const { return moved_; }
  virtual void reset() {}
  virtual bool visit_state(sim::StateVisitor& /*visitor*/) const { return false; }  // see Module

  // Groups of ports that share no bandwidth. A flow that is alone in its group takes alone_cycles(). 0: every flow must
  // be opened.
  virtual std::size_t groups() const { return 0; }
  virtual std::size_t group_of(std::uint32_t /*port*/) const { return 0; }

 protected:
  std::vector<std::size_t> moved_;
};

class Crossings {
 public:
  struct PortQueue;
  struct Crossing {
    Crossing(Crossings& crossings, sim::EventQueue& event_queue)
        : end(event_queue), process(crossings.await_ends(*this)) {}
    const Stream& moved() const { return stream != nullptr ? *stream->stream : run; }
    Withdrawal* withdrawal() const { return stream != nullptr ? stream->withdrawal : nullptr; }
    // One crossing at a time belongs to a stream or crosses in a lane.
    const void* owner() const { return stream != nullptr ? static_cast<const void*>(stream) : lane; }
    void visit_state(sim::StateVisitor& visitor) const;

    std::uint64_t start = 0;  // cycle
    std::uint32_t port = 0;
    std::uint64_t bytes = 0, pace_cycles = 0;
    StreamTransaction* stream = nullptr;  // its stream; nullptr: `run`, moved from or to `data`
    Stream run;
    unsigned char* data = nullptr;
    PortQueue* lane = nullptr;  // of its initiator; nullptr: parallel to all others
    Response response;

    // While rates are recorded: bytes left at the cycles in which rates changed.
    struct Left {
      std::uint64_t cycle;
      double bytes;
    };
    std::vector<Left> progress;

    bool begun = false;     // opened at the arbiter,
    std::size_t slot = 0;   // in this slot
    std::uint64_t due = 0;  // time for which `end` is scheduled
    sim::Event end;
    sim::Process process;
  };
  // Queue of crossings that are executed one after the other.
  struct PortQueue {
    bool taken = false;
    std::deque<Crossing*> waiting;
  };
  class CrossingOwner {
   public:
    // The crossing has ended. `share`: part of it that was transferred, below 1 if it was withdrawn.
    virtual void crossed(const Crossing& crossing, double share) = 0;
    virtual void closed() {}  // a crossing was closed at the arbiter
    // Rates have changed since `cycle`, which may be past.
    virtual void shares_changed(std::uint64_t cycle) = 0;
    virtual bool watches() const = 0;  // true: every change is reported, and no crossing bypasses the arbiter

   protected:
    ~CrossingOwner() = default;
  };

  Crossings(CrossingOwner& owner, Context& context, std::uint32_t ports, std::unique_ptr<Arbiter> arbiter);

  Crossing& make();  // to be filled in and entered, or dropped
  void drop(Crossing& crossing) { free_.push_back(&crossing); }
  void enter(Crossing& crossing);
  void reset();
  bool visit_state(sim::StateVisitor& visitor) const;

  const Arbiter& arbiter() const { return *share_; }
  std::uint64_t begun() const { return begun_; }  // opened and not ended
  // Earliest cycle from which rate changes may still be reported.
  std::uint64_t first_to_come() const { return to_come_.empty() ? UINT64_MAX : to_come_.front()->start; }

 private:
  // Ports that share bandwidth.
  struct PortGroup {
    std::uint32_t crossings = 0;
    Crossing* alone = nullptr;  // the only crossing, which bypasses the arbiter
  };
  void occupy(Crossing& crossing);
  void await_start(Crossing& crossing);
  sim::Process await_ends(Crossing& crossing);
  bool end(Crossing& crossing);
  void leave_lane(Crossing& crossing);
  void begin(Crossing& crossing);
  void begin_due() {
    while (!to_come_.empty() && to_come_.front()->start <= clock_.now()) begin_next();
  }
  void begin_next();
  void changed(std::uint64_t cycle) {
    if (owner_.watches()) watched(cycle);
    if (!share_->moved().empty()) plan_moved();
  }
  void watched(std::uint64_t cycle);
  void plan_moved();
  void plan(Crossing& crossing, std::uint64_t due);

  CrossingOwner& owner_;
  sim::EventQueue& event_queue_;
  const Clock& clock_;
  std::unique_ptr<Arbiter> share_;
  std::vector<PortGroup> groups_;     // none: the arbiter must see every crossing
  std::vector<PortGroup*> group_of_;  // by port; nullptr: no group
  std::vector<Crossing*> to_come_;    // by start
  std::vector<Crossing*> crossing_;   // by slot
  std::uint64_t begun_ = 0;
  std::deque<Crossing> all_;
  std::vector<Crossing*> free_;
};

}  // namespace attnvp
