// Loosely timed event unit: counting semaphores, with two cycles of the platform's clock for each access. A take waits
// until there are enough tokens.
//
//     g++ -std=c++20 -DSC_CPLUSPLUS=201703L -shared -fPIC -I ATTNVP lt_event_unit.cpp -o lt_event_unit.so
//         $(pkg-config --cflags --libs systemc)
//     attnvp run --set events.kind=plugin:./lt_event_unit.so
#include <tlm_utils/simple_target_socket.h>

#include <cstring>
#include <memory>
#include <systemc>
#include <vector>

#include "firmware/hal/registers.h"
#include "models/plugin/plugin.h"

namespace {

namespace hal = attnvp::hal;

struct CountedEvent {
  std::uint32_t tokens = 0;
  sc_core::sc_event signalled;
};

class LtEventUnit : public sc_core::sc_module {
 public:
  LtEventUnit(sc_core::sc_module_name name, const attnvp::PluginContext& module_context)
      : sc_module(name), access_time_(2 / module_context.clock_hz, sc_core::SC_SEC) {
    for (std::uint64_t i = 0; i < module_context.size_bytes / hal::kEventStride; ++i) {
      semaphores_.push_back(std::make_unique<CountedEvent>());
    }
    socket.register_b_transport(this, &LtEventUnit::b_transport);
  }
  void reset() {
    for (const auto& semaphore : semaphores_) semaphore->tokens = 0;
  }
  tlm_utils::simple_target_socket<LtEventUnit> socket{"socket"};

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    wait(delay + access_time_);
    delay = sc_core::SC_ZERO_TIME;
    CountedEvent& semaphore = *semaphores_.at(payload.get_address() / hal::kEventStride);
    std::uint32_t value = 0;
    std::memcpy(&value, payload.get_data_ptr(), sizeof value);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    switch (payload.get_address() % hal::kEventStride) {
      case hal::kEventSignal:
        semaphore.tokens += value;
        return semaphore.signalled.notify();
      case hal::kEventTake:
        while (semaphore.tokens < value) wait(semaphore.signalled);
        semaphore.tokens -= value;
        return;
      default:  // kEventCount
        std::memcpy(payload.get_data_ptr(), &semaphore.tokens, sizeof semaphore.tokens);
    }
  }

  const sc_core::sc_time access_time_;
  std::vector<std::unique_ptr<CountedEvent>> semaphores_;
};

class LtEventUnitPlugin : public attnvp::EventUnitPlugin {
 public:
  explicit LtEventUnitPlugin(const attnvp::PluginContext& module_context)
      : unit_(module_context.name, module_context) {}
  tlm::tlm_target_socket<>& socket() override { return unit_.socket; }
  void reset() override { unit_.reset(); }

 private:
  LtEventUnit unit_;
};

}  // namespace

ATTNVP_EVENT_UNIT_PLUGIN(LtEventUnitPlugin)
