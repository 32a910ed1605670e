#include "models/engine/event_port.h"

#include <optional>

#include "firmware/hal/registers.h"

namespace attnvp {

bool EventPort::access(std::uint64_t base, std::uint32_t event, std::uint64_t reg, std::uint32_t tokens,
                       Journal::Id id) {
  tlm::tlm_generic_payload payload;
  std::optional<OriginExtension> origin;
  if (id != Journal::kNobody) payload.set_extension(&origin.emplace(id));
  fill_payload(payload, tlm::TLM_WRITE_COMMAND, base + event * hal::kEventStride + reg, &tokens, sizeof tokens);
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  out->b_transport(payload, delay);
  if (id != Journal::kNobody) payload.clear_extension(&*origin);
  return payload.is_response_ok();
}

bool EventPort::take(const hal::Descriptor& descriptor, Journal::Id id) {
  for (const hal::EventRef& ref : descriptor.wait) {
    if (ref.tokens() == 0) continue;
    for (std::uint32_t i = 0; i < ref.span(); ++i) {
      waiting_ = static_cast<int>(ref.first() + i);
      if (signal_ != nullptr) signal_->set(ref.first() + i);
      if (!access(base_, ref.first() + i, hal::kEventTake, ref.tokens(), id)) return false;
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
      if (!access(base, ref.first() + i, hal::kEventSignal, ref.tokens(), id)) return false;
    }
  }
  return true;
}

bool EventPort::valid(const hal::Descriptor& descriptor) const {
  const auto ok = [this](const hal::EventRef& ref) { return ref.tokens() == 0 || ref.first() + ref.span() <= events_; };
  for (const hal::EventRef& ref : descriptor.wait) {
    if (!ok(ref)) return false;
  }
  for (const hal::EventRef& ref : descriptor.signal) {
    if (!ok(ref)) return false;
  }
  return true;
}

}  // namespace attnvp
