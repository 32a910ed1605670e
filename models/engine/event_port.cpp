#include "models/engine/event_port.h"

#include <algorithm>

#include "firmware/hal/registers.h"

namespace attnvp {

EventPort::EventPort(const char* name, Context& context, std::uint64_t base, std::uint32_t events)
    : out(name),
      signallers_(context.signallers),
      base_(base),
      events_(events),
      take_(context),
      give_(context),
      takes_(take_all()),
      gives_(give_all()) {}

sim::Completion::Awaiter EventPort::begin(Side& side, const hal::Descriptor& descriptor, CommandTrace::Id id) {
  side.descriptor = &descriptor;
  side.id = id;
  side.done.begin();
  side.requested.release();
  return side.done.end();
}

tlm::tlm_generic_payload& EventPort::access(Side& side, std::uint64_t address, std::uint32_t tokens) {
  side.tokens = tokens;
  side.origin.descriptor = side.id;
  if (side.id != CommandTrace::kNone) side.payload.set_extension(&side.origin);
  fill_payload(side.payload, tlm::TLM_WRITE_COMMAND, address, &side.tokens, sizeof side.tokens);
  return side.payload;
}

sim::Process EventPort::take_all() {
  for (;;) {
    co_await take_.requested;
    for (const hal::EventRef& ref : take_.descriptor->wait) {
      for (std::uint32_t i = 0; ref.tokens() > 0 && i < ref.span(); ++i) {
        const std::uint32_t number = ref.first() + i;
        const std::uint64_t event = base_ + number * hal::kEventStride;
        waiting_ = static_cast<int>(number);
        if (signal_ != nullptr) signal_->set(number);
        if (!co_await take_.access.transport(out, access(take_, event + hal::kEventTake, ref.tokens()))) co_return;
        if (stalls_) stalls_(event, *take_.descriptor);
      }
    }
    waiting_ = -1;
    if (signal_ != nullptr) signal_->set_none();
    take_.done.complete();
  }
}

sim::Process EventPort::give_all() {
  for (;;) {
    co_await give_.requested;
    for (const hal::EventRef& ref : give_.descriptor->signal) {
      const std::uint32_t remote = &ref == std::end(give_.descriptor->signal) - 1 ? give_.descriptor->remote : 0;
      const std::uint64_t base = remote > 0 ? hal::events_base(remote - 1) : base_;
      for (std::uint32_t i = 0; ref.tokens() > 0 && i < ref.span(); ++i) {
        const std::uint64_t event = base + (ref.first() + i) * hal::kEventStride;
        signallers_.signalled(event, *give_.descriptor);
        if (!co_await give_.access.transport(out, access(give_, event + hal::kEventSignal, ref.tokens()))) co_return;
      }
    }
    give_.done.complete();
  }
}

Refusal EventPort::check(const hal::Descriptor& descriptor) const {
  const auto missing = [this](const hal::EventRef& ref) {
    return ref.tokens() > 0 && ref.first() + ref.span() > events_;
  };
  for (const auto& refs : {descriptor.wait, descriptor.signal}) {
    if (std::any_of(refs, refs + hal::kWaits, missing)) {
      return {FaultCode::kBadEvent, 0, "the descriptor names an event that the event unit does not have"};
    }
  }
  return {};
}

}  // namespace attnvp
