#include "models/event_unit/event_unit.h"

#include <cstring>

#include "firmware/hal/registers.h"

namespace attnvp {

EventUnit::EventUnit(sc_core::sc_module_name name, Context& context, const EventUnitConfig& config, std::uint64_t base)
    : Module(name, context), base_(base), slots_(config.events) {
  in.register_b_transport(this, &EventUnit::b_transport);
  for (Slot& slot : slots_) context.fault_line.push_back(&slot.changed.event());
}

void EventUnit::reset() {
  for (Slot& slot : slots_) slot.tokens = 0;
}

bool EventUnit::take(Slot& slot, std::uint32_t tokens) {
  while (slot.tokens < tokens) {
    if (ctx_.faults.any()) return false;
    slot.changed.wait();
  }
  slot.tokens -= tokens;
  takes += tokens;
  return true;
}

void EventUnit::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& /*delay*/) {
  const std::uint64_t offset = payload.get_address() - base_;
  if (payload.get_data_length() != 4 || payload.get_byte_enable_ptr() != nullptr) {
    payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    return;
  }
  std::uint32_t value = 0;
  std::memcpy(&value, payload.get_data_ptr(), 4);
  const auto reply = [&payload](std::uint32_t v) { std::memcpy(payload.get_data_ptr(), &v, 4); };

  if (offset == hal::kEventsFault && payload.is_read()) {
    reply(ctx_.faults.any() ? 1 : 0);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    return;
  }
  const std::uint64_t event = offset / hal::kEventStride;
  if (event >= slots_.size()) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  Slot& slot = slots_[event];
  switch (offset % hal::kEventStride) {
    case hal::kEventSignal:
      if (!payload.is_write()) break;
      slot.tokens += value;
      signals += value;
      slot.changed.notify();
      payload.set_response_status(tlm::TLM_OK_RESPONSE);
      return;
    case hal::kEventTake:
      if (!payload.is_write()) break;
      payload.set_response_status(take(slot, value) ? tlm::TLM_OK_RESPONSE : tlm::TLM_GENERIC_ERROR_RESPONSE);
      return;
    case hal::kEventCount:
      if (!payload.is_read()) break;
      reply(slot.tokens);
      payload.set_response_status(tlm::TLM_OK_RESPONSE);
      return;
    default:
      payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return;
  }
  payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
}

}  // namespace attnvp
