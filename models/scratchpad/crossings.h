// What crosses a memory's ports, from its begin, which may be to come, to its end, which may move as others come and
// go. An Arbiter says who moves how much; here is when it is asked. Shares change only when a crossing begins or ends,
// so that one
//   - that is to come is begun before the next change, or when it is looked at, not when its time comes;
//   - that nobody can be in the way of, and nobody comes to be, is never begun: its end is known.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "models/bus/stream.h"
#include "models/module.h"
#include "models/scratchpad/arbiter.h"

namespace attnvp {

class Crossings {
 public:
  struct Lane;
  struct Crossing {
    Crossing(Crossings& crossings, sim::EventQueue& event_queue)
        : all(crossings), end(event_queue, sim::Callback::of<&Crossing::is_due>(this)) {}
    void is_due() { all.end(*this); }
    const Stream& moved() const { return stream != nullptr ? *stream->stream : run; }
    Withdrawal* withdrawal() const { return stream != nullptr ? stream->withdrawal : nullptr; }

    Crossings& all;
    std::uint64_t start = 0;  // cycle
    std::uint32_t port = 0;
    std::uint64_t bytes = 0, pace_cycles = 0;
    StreamTransaction* stream = nullptr;  // what bytes; nullptr: `run`, between here and `data`
    Stream run;
    unsigned char* data = nullptr;
    Lane* lane = nullptr;  // of its initiator; nullptr: it is beside all others
    Response response;

    // While it is watched: bytes that had still to move, at cycles in which shares changed.
    struct Left {
      std::uint64_t cycle;
      double bytes;
    };
    std::vector<Left> progress;

    bool begun = false;     // the arbiter knows it,
    std::size_t slot = 0;   //   by this
    std::uint64_t due = 0;  // for when `end` is planned
    sim::Event end;
  };
  // What goes one after the other.
  struct Lane {
    bool taken = false;
    std::deque<Crossing*> waiting;
  };
  class Owner {
   public:
    // It is over, `share` of it moved: 1 but for what was withdrawn.
    virtual void crossed(const Crossing& crossing, double share) = 0;
    virtual void closed() {}  // the arbiter has one less
    // Since that cycle, which may be over by now. Whether it wants to know: then nothing is left out.
    virtual void shares_changed(std::uint64_t cycle) = 0;
    virtual bool watches() const = 0;

   protected:
    ~Owner() = default;
  };

  Crossings(Owner& owner, Context& context, std::uint32_t ports, std::unique_ptr<Arbiter> arbiter);

  Crossing& make();  // to be filled in and entered, or dropped
  void drop(Crossing& crossing) { free_.push_back(&crossing); }
  void enter(Crossing& crossing);
  void reset();

  const Arbiter& arbiter() const { return *share_; }
  std::uint64_t begun() const { return begun_; }  // and not over
  // The cycle from which on shares may still be told to have changed.
  std::uint64_t first_to_come() const { return to_come_.empty() ? UINT64_MAX : to_come_.front()->start; }

 private:
  // Of ports that can be in each other's way.
  struct Group {
    std::uint32_t crossings = 0;
    Crossing* alone = nullptr;  // the only one, of which the arbiter has not heard
  };
  void occupy(Crossing& crossing);
  void await_start(Crossing& crossing);
  void end(Crossing& crossing);
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

  Owner& owner_;
  sim::EventQueue& event_queue_;
  const Clock& clock_;
  std::unique_ptr<Arbiter> share_;
  std::vector<Group> groups_;        // none: the arbiter is to hear of everything
  std::vector<Group*> group_of_;     // each port; nullptr: likewise
  std::vector<Crossing*> to_come_;   // by start
  std::vector<Crossing*> crossing_;  // by slot
  std::uint64_t begun_ = 0;
  std::deque<Crossing> all_;
  std::vector<Crossing*> free_;
};

}  // namespace attnvp
