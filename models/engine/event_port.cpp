#include "models/engine/event_port.h"

#include <algorithm>

#include "firmware/hal/registers.h"
#include "models/bus/initiator.h"

namespace attnvp {

namespace {
std::uint64_t address_of(std::uint64_t base, std::uint32_t event) { return base + event * hal::kEventStride; }
}  // namespace

bool EventPort::access(Access& access, std::uint64_t address, std::uint32_t tokens, Journal::Id id) {
  access.origin.descriptor = id;
  if (id != Journal::kNobody) access.payload.set_extension(&access.origin);
  fill_payload(access.payload, tlm::TLM_WRITE_COMMAND, address, &tokens, sizeof tokens);
  return attnvp::access(out, access.payload);
}

bool EventPort::take(const hal::Descriptor& descriptor, Journal::Id id) {
  for (const hal::EventRef& ref : descriptor.wait) {
    if (ref.tokens() == 0) continue;
    for (std::uint32_t i = 0; i < ref.span(); ++i) {
      waiting_ = static_cast<int>(ref.first() + i);
      if (signal_ != nullptr) signal_->set(ref.first() + i);
      const std::uint64_t event = address_of(base_, ref.first() + i);
      if (!access(take_, event + hal::kEventTake, ref.tokens(), id)) return false;
      if (taken_) taken_(event, descriptor);
    }
  }
  waiting_ = -1;
  if (signal_ != nullptr) signal_->set_none();
  return true;
}

bool EventPort::give(const hal::Descriptor& descriptor, Journal::Id id) {
  for (int s = 0; s < hal::kSignals; ++s) {
    const hal::EventRef& ref = descriptor.signal[s];
    const bool remote = s == hal::kSignals - 1 && descriptor.remote > 0;
    for (std::uint32_t i = 0; ref.tokens() > 0 && i < ref.span(); ++i) {
      const std::uint64_t base = remote ? hal::events_base(descriptor.remote - 1) : base_;
      if (givers_ != nullptr) givers_->gave(address_of(base, ref.first() + i), descriptor);
      if (!access(give_, address_of(base, ref.first() + i) + hal::kEventSignal, ref.tokens(), id)) return false;
    }
  }
  return true;
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
