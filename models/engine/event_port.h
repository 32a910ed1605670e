// Port of an engine to hardware events. It takes and signals the tokens of a descriptor over its own socket, one access
// at a time. Taking and signalling are separate processes, so that neither blocks the other.
#pragma once

#include <functional>
#include <utility>

#include "firmware/hal/descriptor.h"
#include "models/engine/descriptor_check.h"
#include "models/interconnect/bus/at_initiator.h"
#include "models/sim/module.h"
#include "models/sim/stall_attribution.h"
#include "models/sim/trace/command_trace.h"
#include "models/sim/trace/signal.h"

namespace attnvp {

class EventPort {
 public:
  // Events are numbered within the cluster whose event unit starts at `base`.
  EventPort(const char* name, Context& context, std::uint64_t base, std::uint32_t events);

  InitiatorSocket out;

  // `co_await events.take(...)` returns when all tokens of the descriptor are taken or given. The descriptor must stay
  // valid until then. An access never ends if it is refused or if its tokens never arrive.
  sim::Completion::Awaiter take(const hal::Descriptor& descriptor, CommandTrace::Id id) {
    return begin(take_, descriptor, id);
  }
  sim::Completion::Awaiter give(const hal::Descriptor& descriptor, CommandTrace::Id id) {
    return begin(give_, descriptor, id);
  }
  Refusal check(const hal::Descriptor& descriptor) const;  // checks that its events exist
  // Number of the event that the port waits for; -1: none.
  int waiting_for() const { return waiting_; }
  // `taken` is called for every event that a descriptor has taken.
  using Taken = std::function<void(std::uint64_t event, const hal::Descriptor& descriptor)>;
  void account_in(Taken taken) { stalls_ = std::move(taken); }
  void show_waiting_in(Signal* signal) { signal_ = signal; }

 private:
  // State of one direction.
  struct Side {
    explicit Side(Context& context) : access(context) {}
    sim::Semaphore requested;
    sim::Completion done;
    AtInitiator access;
    OriginExtension origin;  // outlives the payload that it is attached to
    OwnedPayload payload;
    const hal::Descriptor* descriptor = nullptr;
    CommandTrace::Id id = CommandTrace::kNone;
    std::uint32_t tokens = 0;
  };
  sim::Completion::Awaiter begin(Side& side, const hal::Descriptor& descriptor, CommandTrace::Id id);
  tlm::tlm_generic_payload& access(Side& side, std::uint64_t address, std::uint32_t tokens);
  sim::Process take_all();
  sim::Process give_all();

  SignallingDescriptors& signallers_;
  std::uint64_t base_;
  std::uint32_t events_;
  int waiting_ = -1;
  Signal* signal_ = nullptr;
  Taken stalls_;
  Side take_, give_;
  sim::Process takes_, gives_;
};

}  // namespace attnvp
