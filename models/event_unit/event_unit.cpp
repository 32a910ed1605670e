#include "models/event_unit/event_unit.h"

#include <fmt/format.h>

#include <cstring>
#include <string>

#include "firmware/hal/registers.h"
#include "models/bus/initiator.h"
#include "models/bus/stream.h"
#include "models/trace/journal.h"

namespace attnvp {

EventUnit::EventUnit(sc_core::sc_module_name name, Context& context, const EventUnitConfig& config, std::uint64_t base)
    : Module(name, context), base_(base), slots_(config.events) {
  in.register_b_transport(this, &EventUnit::b_transport);
  in.register_transport_dbg(this, &EventUnit::transport_dbg);
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    slots_[i].signal = std::make_unique<Signal>(*this, "event" + std::to_string(i), 16);
    slots_[i].signal->sparse();
    context.fault_line.push_back(&slots_[i].changed.event());
  }
}

void EventUnit::reset() {
  for (Slot& slot : slots_) set(slot, 0);
}

void EventUnit::set(Slot& slot, std::uint32_t tokens) {
  slot.tokens = tokens;
  slot.signal->set(tokens);
  if (listener_ != nullptr) listener_->notify(sc_core::SC_ZERO_TIME);
}

// Counts are where firmware reads them; everything else is zero.
unsigned EventUnit::transport_dbg(tlm::tlm_generic_payload& payload) {
  if (!payload.is_read()) return 0;
  const std::uint64_t offset = payload.get_address() - base_;
  for (std::uint64_t i = 0; i < payload.get_data_length(); ++i) {
    const std::uint64_t event = (offset + i) / hal::kEventStride, within = (offset + i) % hal::kEventStride;
    const bool counts = event < slots_.size() && within >= hal::kEventCount && within < hal::kEventCount + 4;
    const std::uint32_t tokens = counts ? slots_[event].tokens : 0;
    payload.get_data_ptr()[i] = static_cast<unsigned char>(tokens >> 8 * (within % 4));
  }
  return payload.get_data_length();
}

bool EventUnit::take(Slot& slot, std::uint32_t tokens) {
  while (slot.tokens < tokens) {
    if (ctx_.faults.any()) return false;
    slot.changed.wait();
  }
  set(slot, slot.tokens - tokens);
  takes += tokens;
  return true;
}

void EventUnit::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  arrive(delay);
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
  const auto* const extension = payload.get_extension<OriginExtension>();
  const Journal::Id origin = extension != nullptr ? extension->descriptor : Journal::kNobody;
  switch (offset % hal::kEventStride) {
    case hal::kEventSignal:
      if (!payload.is_write()) break;
      set(slot, slot.tokens + value);
      signals += value;
      if (ctx_.journal != nullptr) {
        ctx_.journal->gave(base_ + event * hal::kEventStride, value, origin, ctx_.clock.now());
      }
      slot.changed.notify();
      payload.set_response_status(tlm::TLM_OK_RESPONSE);
      return;
    case hal::kEventTake:
      if (!payload.is_write()) break;
      if (!take(slot, value)) {
        payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
        return;
      }
      if (ctx_.journal != nullptr) {
        ctx_.journal->took(base_ + event * hal::kEventStride, value, origin, ctx_.clock.now());
      }
      payload.set_response_status(tlm::TLM_OK_RESPONSE);
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

std::string stalled_at(std::uint64_t address) {
  const std::uint64_t offset = (address - hal::kControlBase) % hal::kClusterStride;
  const bool takes =
      address >= hal::kControlBase && offset < hal::kEventsSize && offset % hal::kEventStride == hal::kEventTake;
  if (takes) return fmt::format("waits for event {}", offset / hal::kEventStride);
  return fmt::format("is stalled at the bus access to {:#x}", address);
}

}  // namespace attnvp
