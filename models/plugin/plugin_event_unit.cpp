// Event units of kind `plugin`: a library's counting semaphores (plugin.h). Each access of the platform is one of the
// plug-in's, which answers a take when the tokens are there. The platform counts the tokens, too, for reports and to
// check the answers.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "firmware/hal/registers.h"
#include "models/control/event_unit/event_unit.h"
#include "models/interconnect/bus/payload.h"
#include "models/interconnect/bus/transport.h"
#include "models/plugin/foreign_sockets.h"
#include "models/plugin/library.h"
#include "models/sim/module.h"
#include "models/sim/trace/command_trace.h"

namespace attnvp {

namespace {

struct OfEvents {
  static constexpr const char* kPlace = "events";
};

std::string tokens_text(std::uint32_t tokens) { return fmt::format("{} token{}", tokens, tokens == 1 ? "" : "s"); }

class PluginEventUnit : public EventUnit, public Endless, private Target, private ForeignTarget::Owner {
 public:
  PluginEventUnit(sc_core::sc_module_name name, const ModuleContext& module_context)
      : EventUnit(name, module_context.context),
        base_(module_context.base),
        tokens_(module_context.machine.events.events, 0),
        library_(library_of<OfEvents>(module_context)),
        plugin_(make_plugin<EventUnitPlugin>(library_, told(module_context))) {
    of_library(OfEvents::kPlace, library_, [&] {
      const auto style = plugin_->phases() ? ForeignTarget::Style::kPhases : ForeignTarget::Style::kBlockingAtOnce;
      port_ = std::make_unique<ForeignTarget>("port", ctx_, plugin_->socket(), style,
                                              static_cast<ForeignTarget::Owner&>(*this));
    });
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      signals_.push_back(std::make_unique<Signal>(*this, fmt::format("event{}", i), 16));
      signals_.back()->sparse();
    }
  }
  tlm::tlm_target_socket<>& in() override { return in_; }
  bool is_approximately_timed() const override { return true; }
  std::uint32_t count() const override { return static_cast<std::uint32_t>(tokens_.size()); }
  std::uint32_t tokens(std::uint32_t event) const override { return tokens_.at(event); }
  void tell(sim::Condition* listener) override { listener_ = listener; }
  void reset() override {
    accesses_.clear();
    std::fill(tokens_.begin(), tokens_.end(), 0);
    of_library(OfEvents::kPlace, library_, [this] { plugin_->reset(); });
  }
  bool ends_later() const override { return last_end_fs_ > ctx_.clock.now_fs(); }
  std::string waiting_for() const override;

  Counter signals{*this, "signals", "accesses", "tokens given", {"attnvp.events", "signal", true}};
  Counter takes{*this, "takes", "accesses", "tokens taken", {"attnvp.events", "take", true}};

 private:
  struct EventAccess {
    tlm::tlm_generic_payload* payload;
    Response response;
    std::uint64_t origin;  // id of the descriptor
    std::uint64_t cycle;
    std::uint32_t value;
  };

  static PluginContext told(const ModuleContext& module_context) {
    PluginContext told = plugin_context(module_context);
    told.size_bytes = std::uint64_t{module_context.machine.events.events} * hal::kEventStride;
    return told;
  }
  std::uint64_t offset(const tlm::tlm_generic_payload& payload) const { return payload.get_address() - base_; }
  std::size_t event(const tlm::tlm_generic_payload& payload) const { return offset(payload) / hal::kEventStride; }
  bool is(const tlm::tlm_generic_payload& payload, std::uint64_t its_register) const {
    return offset(payload) % hal::kEventStride == its_register;
  }

  bool begin(std::uint32_t port, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay,
             const Response& response) override;
  unsigned debug(std::uint32_t port, tlm::tlm_generic_payload& payload) override;
  void answered(const ForeignTarget::TargetRequest& request, tlm::tlm_response_status status,
                std::uint64_t end_fs) override;
  void broken(const ForeignTarget::TargetRequest* request, const std::string& what) override;
  void set(std::size_t event, std::uint32_t tokens);

  const std::uint64_t base_;
  std::vector<std::uint32_t> tokens_;
  const std::string library_;
  std::vector<std::unique_ptr<Signal>> signals_;
  std::list<EventAccess> accesses_;  // without an answer, in order of arrival
  std::uint64_t last_end_fs_ = 0;
  sim::Condition* listener_ = nullptr;
  std::unique_ptr<EventUnitPlugin> plugin_;
  std::unique_ptr<ForeignTarget> port_;
  const ExitGuard exit_guard_{*this, ctx_.clock};
  TargetSocket in_{"in", ctx_.event_queue, *this};
};

bool PluginEventUnit::begin(std::uint32_t /*port*/, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay,
                            const Response& response) {
  std::uint32_t value = 0;
  if (payload.get_data_length() != sizeof value || payload.get_byte_enable_ptr() != nullptr) {
    payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    return true;
  }
  std::memcpy(&value, payload.get_data_ptr(), sizeof value);
  if (offset(payload) == hal::kEventsFault && payload.is_read()) {  // a register of the platform
    value = ctx_.faults.any() ? 1 : 0;
    std::memcpy(payload.get_data_ptr(), &value, sizeof value);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    return true;
  }
  const bool is_known = payload.is_write() ? is(payload, hal::kEventSignal) || is(payload, hal::kEventTake)
                                           : is(payload, hal::kEventCount);
  if (event(payload) >= tokens_.size() || !is_known) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return true;
  }
  const auto* const extension = payload.get_extension<OriginExtension>();
  const std::uint64_t origin = extension != nullptr ? extension->descriptor : CommandTrace::kNone;
  EventAccess& access = accesses_.emplace_back(EventAccess{&payload, response, origin, ctx_.clock.now(), value});
  if (payload.is_write() && is(payload, hal::kEventSignal)) {  // counts from now on: a take may be answered first
    signals += value;
    if (ctx_.command_trace != nullptr) {
      ctx_.command_trace->signalled(base_ + event(payload) * hal::kEventStride, value, origin, ctx_.clock.now());
    }
    set(event(payload), tokens_[event(payload)] + value);
  }
  port_->send({payload.is_read(), offset(payload), payload.get_data_ptr(), sizeof value, &access}, delay.value());
  return false;
}

void PluginEventUnit::answered(const ForeignTarget::TargetRequest& request, tlm::tlm_response_status status,
                               std::uint64_t end_fs) {
  const auto found = std::find_if(accesses_.begin(), accesses_.end(),
                                  [&](const EventAccess& access) { return &access == request.access; });
  if (found == accesses_.end()) return;  // of an earlier job
  const EventAccess access = *found;
  accesses_.erase(found);
  tlm::tlm_generic_payload& payload = *access.payload;
  payload.set_response_status(status);
  if (status <= tlm::TLM_INCOMPLETE_RESPONSE) {
    fault(FaultCode::kNone, payload.get_address(),
          fmt::format("its plug-in answered {} to {}", payload.get_response_string(), request.text()));
  } else if (payload.is_write() && is(payload, hal::kEventTake)) {
    std::uint32_t& tokens = tokens_[event(payload)];
    if (tokens < access.value) {
      fault(FaultCode::kNone, payload.get_address(),
            fmt::format("its plug-in answered a take of {} of event {}, which has {}; allowed is an answer when "
                        "the tokens are there",
                        tokens_text(access.value), event(payload), tokens));
      payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    } else {
      takes += access.value;
      if (ctx_.command_trace != nullptr) {
        ctx_.command_trace->took(base_ + event(payload) * hal::kEventStride, access.value, access.origin,
                                 ctx_.clock.now());
      }
      set(event(payload), tokens - access.value);
    }
  }
  // The first cycle that starts at or after the end.
  const std::uint64_t now = ctx_.clock.now();
  const std::uint64_t cycle = ctx_.clock.ceil_cycles(sc_core::sc_time::from_value(end_fs));
  last_end_fs_ = std::max(last_end_fs_, end_fs);
  access.response.send(ctx_.clock.cycles(cycle - std::min(cycle, now)));
}

void PluginEventUnit::broken(const ForeignTarget::TargetRequest* request, const std::string& what) {
  fault(FaultCode::kNone, request == nullptr ? base_ : base_ + request->address,
        fmt::format("its plug-in {}{}", what, request == nullptr ? "" : fmt::format(" ({})", request->text())));
}

void PluginEventUnit::set(std::size_t event, std::uint32_t tokens) {
  tokens_[event] = tokens;
  signals_[event]->set(tokens);
  if (listener_ != nullptr) listener_->notify();
}

// Token counts are at their register addresses; all other bytes are zero.
unsigned PluginEventUnit::debug(std::uint32_t /*port*/, tlm::tlm_generic_payload& payload) {
  if (!payload.is_read()) return 0;
  for (std::uint64_t i = 0; i < payload.get_data_length(); ++i) {
    const std::uint64_t at = offset(payload) + i, event = at / hal::kEventStride, within = at % hal::kEventStride;
    const bool counts = event < tokens_.size() && within >= hal::kEventCount && within < hal::kEventCount + 4;
    payload.get_data_ptr()[i] = static_cast<unsigned char>((counts ? tokens_[event] : 0) >> 8 * (within % 4));
  }
  return payload.get_data_length();
}

// A take that waits for tokens is none of the plug-in's faults.
std::string PluginEventUnit::waiting_for() const {
  for (const EventAccess& access : accesses_) {
    const bool is_take = access.payload->is_write() && is(*access.payload, hal::kEventTake);
    if (is_take && tokens_[event(*access.payload)] < access.value) continue;
    const std::string what = !access.payload->is_write()
                                 ? "a read"
                                 : fmt::format("a {} of {}", is_take ? "take" : "signal", tokens_text(access.value));
    return fmt::format("its plug-in has not answered {} of event {} since cycle {}", what, event(*access.payload),
                       access.cycle);
  }
  return {};
}

const bool kEventsKind = add_kind(plugin_kind<OfEvents, EventUnitPlugin, EventUnit>(
    "is a library's module with the same registers", {}, [](const ModuleContext& module_context) {
      return std::make_unique<PluginEventUnit>(module_context.name, module_context);
    }));

}  // namespace

}  // namespace attnvp
