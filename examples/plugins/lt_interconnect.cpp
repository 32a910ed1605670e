// Loosely timed interconnect: a bus that one access occupies for one cycle of the platform's clock plus one for every
// 64 bytes, first come, first served. The target's latency does not occupy the bus.
//
//     g++ -std=c++20 -DSC_CPLUSPLUS=201703L -shared -fPIC -I ATTNVP lt_interconnect.cpp -o lt_interconnect.so
//         $(pkg-config --cflags --libs systemc)
//     attnvp run --set interconnect.kind=plugin:./lt_interconnect.so
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <memory>
#include <systemc>
#include <vector>

#include "models/plugin/plugin.h"

namespace {

class LtBus : public sc_core::sc_module {
 public:
  LtBus(sc_core::sc_module_name name, const attnvp::PluginContext& module_context)
      : sc_module(name), cycle_(1 / module_context.clock_hz, sc_core::SC_SEC), targets_(module_context.targets) {
    for (std::uint32_t i = 0; i < module_context.initiators; ++i) {
      in.push_back(std::make_unique<BusTarget>(("in" + std::to_string(i)).c_str()));
      in.back()->register_b_transport(this, &LtBus::b_transport, static_cast<int>(i));
    }
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      out.push_back(std::make_unique<BusInitiator>(("out" + std::to_string(i)).c_str()));
    }
  }
  using BusTarget = tlm_utils::simple_target_socket_tagged<LtBus>;
  using BusInitiator = tlm_utils::simple_initiator_socket<LtBus>;
  std::vector<std::unique_ptr<BusTarget>> in;
  std::vector<std::unique_ptr<BusInitiator>> out;

 private:
  void b_transport(int /*initiator*/, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    wait(delay);
    delay = sc_core::SC_ZERO_TIME;
    bus_.lock();
    wait((1 + (payload.get_data_length() + 63) / 64) * cycle_);
    bus_.unlock();
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      if (payload.get_address() - targets_[i].base < targets_[i].bytes) return (*out[i])->b_transport(payload, delay);
    }
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }

  const sc_core::sc_time cycle_;
  const std::vector<attnvp::PluginContext::TargetRange> targets_;
  sc_core::sc_mutex bus_;
};

class LtInterconnectPlugin : public attnvp::InterconnectPlugin {
 public:
  explicit LtInterconnectPlugin(const attnvp::PluginContext& module_context)
      : bus_(module_context.name, module_context) {}
  tlm::tlm_target_socket<>& in(std::uint32_t initiator) override { return *bus_.in.at(initiator); }
  tlm::tlm_initiator_socket<>& out(std::uint32_t target) override { return *bus_.out.at(target); }

 private:
  LtBus bus_;
};

}  // namespace

ATTNVP_INTERCONNECT_PLUGIN(LtInterconnectPlugin)
