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
    : Module(name, context), base_(base) {
  in.register_b_transport(this, &EventUnit::b_transport);
  in.register_transport_dbg(this, &EventUnit::transport_dbg);
  for (std::uint32_t i = 0; i < config.events; ++i) {
    Slot& slot = slots_.emplace_back(*this, context.event_queue, base + i * hal::kEventStride);
    slot.signal = std::make_unique<Signal>(*this, "event" + std::to_string(i), 16);
    slot.signal->sparse();
    context.fault_line.push_back(&slot.changed);
  }
}

void EventUnit::reset() {
  for (Slot& slot : slots_) {
    set(slot, 0);
    slot.takers.clear();
  }
}

void EventUnit::set(Slot& slot, std::uint32_t tokens) {
  slot.tokens = tokens;
  slot.signal->set(tokens);
  if (listener_ != nullptr) listener_->notify();
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

bool EventUnit::take(Slot& slot, std::uint32_t tokens, std::uint64_t origin) {
  while (slot.tokens < tokens) {
    if (ctx_.faults.any()) return false;
    slot.changed.wait();
  }
  took(slot, tokens, origin);
  return true;
}

void EventUnit::took(Slot& slot, std::uint32_t tokens, std::uint64_t origin) {
  set(slot, slot.tokens - tokens);
  takes += tokens;
  if (ctx_.journal != nullptr) ctx_.journal->took(slot.address, tokens, origin, ctx_.clock.now());
}

void EventUnit::serve(Slot& slot) {
  for (std::size_t i = 0; i < slot.takers.size();) {
    const Taker taker = slot.takers[i];
    if (slot.tokens < taker.tokens) {
      ++i;
      continue;
    }
    slot.takers.erase(slot.takers.begin() + static_cast<std::ptrdiff_t>(i));
    took(slot, taker.tokens, taker.origin);
    taker.to->completed(taker.ticket, ctx_.clock.now(), true);
  }
}

void EventUnit::postpone(const tlm::tlm_generic_payload& payload, CompletionExtension& later, sc_core::sc_time& delay) {
  if (free_late_.empty()) free_late_.push_back(&all_late_.emplace_back(*this));
  Late& late = *free_late_.back();
  free_late_.pop_back();
  late.address = payload.get_address();
  std::memcpy(&late.value, payload.get_data_ptr(), sizeof late.value);
  const auto* const origin = payload.get_extension<OriginExtension>();
  late.origin.descriptor = origin != nullptr ? origin->descriptor : Journal::kNobody;
  late.to = later.to;
  late.ticket = later.ticket;
  late.step.notify_at(ctx_.clock.now_fs() + delay.value());
  later.deferred = true;
  delay = sc_core::SC_ZERO_TIME;
}

// As it would be for somebody who comes now.
void EventUnit::serve(Late& late) {
  CompletionExtension completion(*late.to);
  completion.ticket = late.ticket;
  tlm::tlm_generic_payload payload;
  payload.set_extension(&completion);
  payload.set_extension(&late.origin);
  fill_payload(payload, tlm::TLM_WRITE_COMMAND, late.address, &late.value, sizeof late.value);
  sc_core::sc_time none = sc_core::SC_ZERO_TIME;
  b_transport(payload, none);
  free_late_.push_back(&late);
  if (!completion.deferred) completion.to->completed(completion.ticket, ctx_.clock.now(), payload.is_response_ok());
}

void EventUnit::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const std::uint64_t offset = payload.get_address() - base_;
  if (payload.get_data_length() != 4 || payload.get_byte_enable_ptr() != nullptr) {
    payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    return;
  }
  auto* const later = payload.get_extension<CompletionExtension>();
  if (delay != sc_core::SC_ZERO_TIME && later != nullptr && payload.is_write()) {
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    return postpone(payload, *later, delay);
  }
  arrive(ctx_.event_queue, delay);
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
      if (ctx_.journal != nullptr) ctx_.journal->gave(slot.address, value, origin, ctx_.clock.now());
      if (!slot.takers.empty()) slot.serve.notify_delta();
      slot.changed.notify();
      payload.set_response_status(tlm::TLM_OK_RESPONSE);
      return;
    case hal::kEventTake:
      if (!payload.is_write()) break;
      if (later != nullptr && slot.tokens < value) {
        later->deferred = true;
        slot.takers.push_back({value, later->to, later->ticket, origin});
      } else if (!take(slot, value, origin)) {
        payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
        return;
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
