#include "models/engine/event_port.h"

#include "firmware/hal/registers.h"

namespace attnvp {

bool EventPort::access(tlm::tlm_generic_payload& payload, std::uint32_t event, std::uint64_t reg,
                       std::uint32_t tokens) {
  fill_payload(payload, tlm::TLM_WRITE_COMMAND, base_ + event * hal::kEventStride + reg, &tokens, sizeof tokens);
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  out->b_transport(payload, delay);
  return payload.is_response_ok();
}

bool EventPort::take(const hal::Descriptor& descriptor) {
  for (const hal::EventRef& ref : descriptor.wait) {
    if (ref.tokens() == 0) continue;
    for (std::uint32_t i = 0; i < ref.span(); ++i) {
      waiting_ = static_cast<int>(ref.first() + i);
      if (!access(take_, ref.first() + i, hal::kEventTake, ref.tokens())) return false;
    }
  }
  waiting_ = -1;
  return true;
}

bool EventPort::give(const hal::Descriptor& descriptor) {
  for (const hal::EventRef& ref : descriptor.signal) {
    if (ref.tokens() == 0) continue;
    for (std::uint32_t i = 0; i < ref.span(); ++i) {
      if (!access(give_, ref.first() + i, hal::kEventSignal, ref.tokens())) return false;
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
