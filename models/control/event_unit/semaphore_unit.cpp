#include <fmt/format.h>
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "firmware/hal/registers.h"
#include "models/control/event_unit/event_unit.h"
#include "models/interconnect/bus/initiator.h"
#include "models/interconnect/bus/payload.h"
#include "models/interconnect/bus/transport.h"
#include "models/registry.h"
#include "models/sim/trace/command_trace.h"

namespace attnvp {

// Event unit with counting semaphores. Signalling adds tokens. Taking stalls the bus access until enough tokens are
// there.
class SemaphoreUnit : public EventUnit {
 public:
  SemaphoreUnit(sc_core::sc_module_name name, const ModuleContext& module_context);

  tlm::tlm_target_socket<>& in() override { return in_; }
  bool is_approximately_timed() const override { return true; }
  std::uint32_t count() const override { return static_cast<std::uint32_t>(slots_.size()); }
  std::uint32_t tokens(std::uint32_t event) const override { return slots_.at(event).count(); }
  void tell(sim::Condition* listener) override { listener_ = listener; }
  void reset() override;
  bool visit_state(sim::StateVisitor& visitor) override;

  Counter signals{*this, "signals", "accesses", "tokens given", {"attnvp.events", "signal", true}};
  Counter takes{*this, "takes", "accesses", "tokens taken", {"attnvp.events", "take", true}};

 private:
  // AT transaction that waits for tokens.
  struct Taker {
    std::uint32_t tokens;
    tlm::tlm_generic_payload* payload;
    std::uint64_t origin;  // id of the descriptor
  };
  struct SemaphoreSlot {
    SemaphoreSlot(sim::EventQueue& event_queue, std::uint64_t its_address)
        : address(its_address), changed(event_queue), signalled(event_queue) {}
    std::uint32_t count() const { return static_cast<std::uint32_t>(tokens); }
    std::uint64_t address;
    std::uint64_t tokens = 0;   // 32 bits of a register; a sum for visit_state()
    bool was_observed = false;  // a take or a read in this run: tokens have an effect
    sim::Condition changed;     // for threads
    std::vector<Taker> takers;  // first come, first served, among those with enough tokens
    sim::Event signalled;       // while there are takers
    sim::Process server;        // of the takers, from the first one on
    std::unique_ptr<Signal> signal;
  };
  // AT transaction with an annotated delay, executed at its time.
  struct Late {
    explicit Late(SemaphoreUnit& unit) : due(unit.ctx_.event_queue), process(unit.serve_late(*this)) {}
    sim::Event due;
    tlm::tlm_generic_payload* payload = nullptr;
    sim::Process process;
  };
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  bool access(tlm::tlm_generic_payload& payload, bool may_wait);
  void postpone(tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay);
  sim::Process serve_late(Late& late);
  void respond(tlm::tlm_generic_payload& payload);
  unsigned transport_dbg(tlm::tlm_generic_payload& payload);
  bool take(SemaphoreSlot& slot, std::uint32_t tokens, std::uint64_t origin);
  sim::Process serve_takers(SemaphoreSlot& slot);
  void took(SemaphoreSlot& slot, std::uint32_t tokens, std::uint64_t origin);
  void set(SemaphoreSlot& slot, std::uint32_t tokens);

  tlm_utils::simple_target_socket<SemaphoreUnit> in_{"in"};
  std::uint64_t base_;
  std::deque<SemaphoreSlot> slots_;
  std::size_t used_ = 0;  // the slots from here on were never accessed
  std::deque<Late> all_late_;
  std::vector<Late*> free_late_;
  sim::Condition* listener_ = nullptr;
};

namespace {
const bool kEventsRegistered =
    add_kind<EventUnit>({"events", "model", "is in SystemC", {}, [](const ModuleContext& module_context) {
                           return std::make_unique<SemaphoreUnit>(module_context.name, module_context);
                         }});
}  // namespace

SemaphoreUnit::SemaphoreUnit(sc_core::sc_module_name name, const ModuleContext& module_context)
    : EventUnit(name, module_context.context), base_(module_context.base) {
  in_.register_b_transport(this, &SemaphoreUnit::b_transport);
  in_.register_nb_transport_fw(this, &SemaphoreUnit::nb_transport_fw);
  in_.register_transport_dbg(this, &SemaphoreUnit::transport_dbg);
  for (std::uint32_t i = 0; i < module_context.machine.events.events; ++i) {
    SemaphoreSlot& slot = slots_.emplace_back(ctx_.event_queue, base_ + i * hal::kEventStride);
    slot.signal = std::make_unique<Signal>(*this, "event" + std::to_string(i), 16);
    slot.signal->sparse();
    ctx_.fault_line.push_back(&slot.changed);
  }
}

void SemaphoreUnit::reset() {
  for (SemaphoreSlot& slot : slots_) {
    set(slot, 0);
    slot.was_observed = false;
    slot.takers.clear();
  }
}

bool SemaphoreUnit::visit_state(sim::StateVisitor& visitor) {
  visit_counters(visitor);
  for (std::size_t i = 0; i < used_; ++i) {
    SemaphoreSlot& slot = slots_[i];
    visitor.value(slot.takers.size());
    visitor.value(slot.was_observed);
    if (slot.was_observed) {
      visitor.value(slot.tokens);
    } else {
      visitor.sum(slot.tokens);
    }
    for (const Taker& taker : slot.takers) {
      visitor.value(taker.tokens);
      visitor.value(static_cast<const void*>(taker.payload));
    }
  }
  return true;
}

void SemaphoreUnit::set(SemaphoreSlot& slot, std::uint32_t tokens) {
  slot.tokens = tokens;
  slot.signal->set(tokens);
  if (listener_ != nullptr) listener_->notify();
}

// Token counts are at their register addresses; all other bytes are zero.
unsigned SemaphoreUnit::transport_dbg(tlm::tlm_generic_payload& payload) {
  if (!payload.is_read()) return 0;
  const std::uint64_t offset = payload.get_address() - base_;
  for (std::uint64_t i = 0; i < payload.get_data_length(); ++i) {
    const std::uint64_t event = (offset + i) / hal::kEventStride, within = (offset + i) % hal::kEventStride;
    const bool counts = event < slots_.size() && within >= hal::kEventCount && within < hal::kEventCount + 4;
    const std::uint32_t tokens = counts ? slots_[event].count() : 0;
    payload.get_data_ptr()[i] = static_cast<unsigned char>(tokens >> 8 * (within % 4));
  }
  return payload.get_data_length();
}

bool SemaphoreUnit::take(SemaphoreSlot& slot, std::uint32_t tokens, std::uint64_t origin) {
  while (slot.count() < tokens) {
    if (ctx_.faults.any()) return false;
    slot.changed.wait();
  }
  took(slot, tokens, origin);
  return true;
}

void SemaphoreUnit::took(SemaphoreSlot& slot, std::uint32_t tokens, std::uint64_t origin) {
  set(slot, slot.count() - tokens);
  takes += tokens;
  if (ctx_.command_trace != nullptr) ctx_.command_trace->took(slot.address, tokens, origin, ctx_.clock.now());
}

// Gives the tokens of an event to AT transactions that wait for them.
sim::Process SemaphoreUnit::serve_takers(SemaphoreSlot& slot) {
  for (;;) {
    co_await slot.signalled;
    for (std::size_t i = 0; i < slot.takers.size();) {
      const Taker taker = slot.takers[i];
      if (slot.count() < taker.tokens) {
        ++i;
        continue;
      }
      slot.takers.erase(slot.takers.begin() + static_cast<std::ptrdiff_t>(i));
      took(slot, taker.tokens, taker.origin);
      taker.payload->set_response_status(tlm::TLM_OK_RESPONSE);
      respond(*taker.payload);
    }
  }
}

void SemaphoreUnit::respond(tlm::tlm_generic_payload& payload) {
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time none = sc_core::SC_ZERO_TIME;
  in_->nb_transport_bw(payload, phase, none);
}

void SemaphoreUnit::postpone(tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay) {
  if (free_late_.empty()) free_late_.push_back(&all_late_.emplace_back(*this));
  Late& late = *free_late_.back();
  free_late_.pop_back();
  late.payload = &payload;
  late.due.belongs_to(&payload);
  late.due.notify_at(ctx_.clock.now_fs() + delay.value());
}

// Executes delayed accesses at their times.
sim::Process SemaphoreUnit::serve_late(Late& late) {
  for (;;) {
    co_await late.due;
    if (access(*late.payload, false)) respond(*late.payload);
    free_late_.push_back(&late);
  }
}

tlm::tlm_sync_enum SemaphoreUnit::nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                  sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_COMPLETED;  // END_RESP
  if (delay != sc_core::SC_ZERO_TIME) {
    postpone(payload, delay);
  } else if (access(payload, false)) {
    return tlm::TLM_COMPLETED;
  }
  return accept(phase, delay);
}

void SemaphoreUnit::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  arrive(ctx_.event_queue, delay);
  access(payload, true);
}

// Executes an access at the current time. False: the response is sent later (AT only).
bool SemaphoreUnit::access(tlm::tlm_generic_payload& payload, bool may_wait) {
  const std::uint64_t offset = payload.get_address() - base_;
  const auto respond_with = [&payload](tlm::tlm_response_status status) {
    payload.set_response_status(status);
    return true;
  };
  if (payload.get_data_length() != 4 || payload.get_byte_enable_ptr() != nullptr) {
    return respond_with(tlm::TLM_BURST_ERROR_RESPONSE);
  }
  std::uint32_t value = 0;
  std::memcpy(&value, payload.get_data_ptr(), 4);
  const auto reply = [&payload](std::uint32_t v) { std::memcpy(payload.get_data_ptr(), &v, 4); };

  if (offset == hal::kEventsFault && payload.is_read()) {
    reply(ctx_.faults.any() ? 1 : 0);
    return respond_with(tlm::TLM_OK_RESPONSE);
  }
  const std::uint64_t event = offset / hal::kEventStride;
  if (event >= slots_.size()) return respond_with(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  SemaphoreSlot& slot = slots_[event];
  used_ = std::max<std::size_t>(used_, event + 1);
  const auto* const extension = payload.get_extension<OriginExtension>();
  const CommandTrace::Id origin = extension != nullptr ? extension->descriptor : CommandTrace::kNone;
  switch (offset % hal::kEventStride) {
    case hal::kEventSignal:
      if (!payload.is_write()) break;
      set(slot, slot.count() + value);
      signals += value;
      if (ctx_.command_trace != nullptr) ctx_.command_trace->signalled(slot.address, value, origin, ctx_.clock.now());
      if (!slot.takers.empty()) slot.signalled.notify_delta();
      slot.changed.notify();
      return respond_with(tlm::TLM_OK_RESPONSE);
    case hal::kEventTake:
      if (!payload.is_write()) break;
      slot.was_observed = true;
      if (!may_wait && slot.count() < value) {
        slot.takers.push_back({value, &payload, origin});
        if (!slot.server) slot.server = serve_takers(slot);
        return false;
      }
      return respond_with(take(slot, value, origin) ? tlm::TLM_OK_RESPONSE : tlm::TLM_GENERIC_ERROR_RESPONSE);
    case hal::kEventCount:
      if (!payload.is_read()) break;
      slot.was_observed = true;
      reply(slot.count());
      return respond_with(tlm::TLM_OK_RESPONSE);
    default:
      return respond_with(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }
  return respond_with(tlm::TLM_COMMAND_ERROR_RESPONSE);
}

std::string stalled_at(std::uint64_t address) {
  const std::uint64_t offset = (address - hal::kControlBase) % hal::kClusterStride;
  const bool takes =
      address >= hal::kControlBase && offset < hal::kEventsSize && offset % hal::kEventStride == hal::kEventTake;
  if (takes) return fmt::format("waits for event {}", offset / hal::kEventStride);
  return fmt::format("is stalled at the bus access to {:#x}", address);
}

}  // namespace attnvp
