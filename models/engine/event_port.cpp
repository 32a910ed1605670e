#include "models/engine/event_port.h"

#include <algorithm>

#include "firmware/hal/registers.h"

namespace attnvp {

void EventPort::begin(Walk& walk, const hal::Descriptor& descriptor, Journal::Id id) {
  walk.descriptor = &descriptor;
  walk.id = id;
  walk.ref = 0;
  walk.within = 0;
}

bool EventPort::access(Walk& walk, std::uint64_t address, std::uint32_t tokens) {
  walk.tokens = tokens;
  walk.origin.descriptor = walk.id;
  if (walk.id != Journal::kNobody) walk.payload.set_extension(&walk.origin);
  fill_payload(walk.payload, tlm::TLM_WRITE_COMMAND, address, &walk.tokens, sizeof walk.tokens);
  return walk.access.begin(out, walk.payload) && walk.access.ok();
}

bool EventPort::take(const hal::Descriptor& descriptor, Journal::Id id) {
  begin(take_, descriptor, id);
  return take_rest();
}

bool EventPort::take_rest() {
  for (; take_.ref < hal::kWaits; ++take_.ref, take_.within = 0) {
    const hal::EventRef& ref = take_.descriptor->wait[take_.ref];
    if (ref.tokens() == 0) continue;
    while (take_.within < ref.span()) {
      waiting_ = static_cast<int>(ref.first() + take_.within);
      if (signal_ != nullptr) signal_->set(ref.first() + take_.within);
      if (!access(take_, base_ + (ref.first() + take_.within) * hal::kEventStride + hal::kEventTake, ref.tokens())) {
        return false;
      }
      taken_one();
    }
  }
  waiting_ = -1;
  if (signal_ != nullptr) signal_->set_none();
  return true;
}

void EventPort::taken_one() {
  if (account_) {
    const hal::EventRef& ref = take_.descriptor->wait[take_.ref];
    account_(base_ + (ref.first() + take_.within) * hal::kEventStride, *take_.descriptor);
  }
  ++take_.within;
}

void EventPort::take_on() {
  if (!take_.access.ok()) return;
  taken_one();
  if (take_rest()) take_.over();
}

bool EventPort::give(const hal::Descriptor& descriptor, Journal::Id id) {
  begin(give_, descriptor, id);
  return give_rest();
}

bool EventPort::give_rest() {
  for (; give_.ref < hal::kSignals; ++give_.ref, give_.within = 0) {
    const hal::Descriptor& descriptor = *give_.descriptor;
    const hal::EventRef& ref = descriptor.signal[give_.ref];
    const bool remote = give_.ref == hal::kSignals - 1 && descriptor.remote > 0;
    const std::uint64_t base = remote ? hal::events_base(descriptor.remote - 1) : base_;
    while (ref.tokens() > 0 && give_.within < ref.span()) {
      const std::uint64_t event = base + (ref.first() + give_.within++) * hal::kEventStride;
      givers_.gave(event, descriptor);
      if (!access(give_, event + hal::kEventSignal, ref.tokens())) return false;
    }
  }
  return true;
}

void EventPort::give_on() {
  if (give_.access.ok() && give_rest()) give_.over();
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
