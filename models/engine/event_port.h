// An engine's side of the hardware events: takes and gives a descriptor's tokens over its own socket, one after the
// other.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <functional>
#include <utility>

#include "firmware/hal/descriptor.h"
#include "models/account/account.h"
#include "models/bus/posted.h"
#include "models/bus/stream.h"
#include "models/engine/descriptor_check.h"
#include "models/module.h"
#include "models/trace/journal.h"
#include "models/trace/signal.h"

namespace attnvp {

class EventPort {
 public:
  // Events are numbered within the cluster whose event unit starts at `base`.
  EventPort(const char* name, Context& context, std::uint64_t base, std::uint32_t events, Call taken, Call given)
      : out(name),
        givers_(context.givers),
        base_(base),
        events_(events),
        take_(context, taken, Call::of<&EventPort::take_on>(this)),
        give_(context, given, Call::of<&EventPort::give_on>(this)) {}

  tlm_utils::simple_initiator_socket<EventPort> out;

  // Of a descriptor that stays where it is. Whether it is done when this returns; if not, `taken` is called when it is,
  // or `given`. A take may wait for tokens; what waits for tokens that never come, or is refused, is never done. One
  // may wait while another is given.
  bool take(const hal::Descriptor& descriptor, Journal::Id id = Journal::kNobody);
  bool give(const hal::Descriptor& descriptor, Journal::Id id = Journal::kNobody);
  Refusal check(const hal::Descriptor& descriptor) const;  // whether its events exist
  // Number of the event being waited for, -1 while not waiting.
  int waiting_for() const { return waiting_; }
  // Tells `taken` of every event that was taken for a descriptor.
  using Taken = std::function<void(std::uint64_t event, const hal::Descriptor& descriptor)>;
  void account_in(Taken taken) { account_ = std::move(taken); }
  void show_waiting_in(Signal* signal) { signal_ = signal; }

 private:
  // A walk through a descriptor's events.
  struct Walk {
    Walk(Context& context, Call done, Call go_on) : over(done), access(context, go_on) { access.attach_to(payload); }
    Call over;
    Posted access;
    OriginExtension origin;  // outlives the payload that it may be attached to
    tlm::tlm_generic_payload payload;
    const hal::Descriptor* descriptor = nullptr;
    Journal::Id id = Journal::kNobody;
    int ref = 0;
    std::uint32_t within = 0, tokens = 0;
  };
  void begin(Walk& walk, const hal::Descriptor& descriptor, Journal::Id id);
  bool access(Walk& walk, std::uint64_t address, std::uint32_t tokens);
  bool take_rest();
  bool give_rest();
  void taken_one();
  void take_on();
  void give_on();

  Givers& givers_;
  std::uint64_t base_;
  std::uint32_t events_;
  int waiting_ = -1;
  Signal* signal_ = nullptr;
  Taken account_;
  Walk take_, give_;
};

}  // namespace attnvp
