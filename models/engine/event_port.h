// An engine's side of the hardware events: takes and gives a descriptor's tokens over its own socket, one after the
// other. Takes and gives are two processes, so that one may wait while the other goes on.
#pragma once

#include <functional>
#include <utility>

#include "firmware/hal/descriptor.h"
#include "models/account/account.h"
#include "models/bus/at_initiator.h"
#include "models/engine/descriptor_check.h"
#include "models/module.h"
#include "models/trace/journal.h"
#include "models/trace/signal.h"

namespace attnvp {

class EventPort {
 public:
  // Events are numbered within the cluster whose event unit starts at `base`.
  EventPort(const char* name, Context& context, std::uint64_t base, std::uint32_t events);

  InitiatorSocket out;

  // co_await events.take(...): until all tokens of the descriptor, which stays where it is, are taken or given. An
  // access that waits for tokens that never come, or is refused, never ends.
  sim::Completion::Awaiter take(const hal::Descriptor& descriptor, Journal::Id id) {
    return begin(take_, descriptor, id);
  }
  sim::Completion::Awaiter give(const hal::Descriptor& descriptor, Journal::Id id) {
    return begin(give_, descriptor, id);
  }
  Refusal check(const hal::Descriptor& descriptor) const;  // whether its events exist
  // Number of the event being waited for, -1 while not waiting.
  int waiting_for() const { return waiting_; }
  // Tells `taken` of every event that was taken for a descriptor.
  using Taken = std::function<void(std::uint64_t event, const hal::Descriptor& descriptor)>;
  void account_in(Taken taken) { account_ = std::move(taken); }
  void show_waiting_in(Signal* signal) { signal_ = signal; }

 private:
  // Of one direction.
  struct Side {
    explicit Side(Context& context) : access(context) {}
    sim::Semaphore requested;
    sim::Completion done;
    AtInitiator access;
    OriginExtension origin;  // outlives the payload that it may be attached to
    OwnedPayload payload;
    const hal::Descriptor* descriptor = nullptr;
    Journal::Id id = Journal::kNobody;
    std::uint32_t tokens = 0;
  };
  sim::Completion::Awaiter begin(Side& side, const hal::Descriptor& descriptor, Journal::Id id);
  tlm::tlm_generic_payload& access(Side& side, std::uint64_t address, std::uint32_t tokens);
  sim::Process take_all();
  sim::Process give_all();

  Givers& givers_;
  std::uint64_t base_;
  std::uint32_t events_;
  int waiting_ = -1;
  Signal* signal_ = nullptr;
  Taken account_;
  Side take_, give_;
  sim::Process takes_, gives_;
};

}  // namespace attnvp
