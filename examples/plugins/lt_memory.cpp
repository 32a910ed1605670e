// Loosely timed memory, used as an L1: each of three ports moves 64 bytes per cycle of the platform's clock. Initiators
// are assigned to the ports in turn.
//
//     g++ -std=c++20 -DSC_CPLUSPLUS=201703L -shared -fPIC -I ATTNVP lt_memory.cpp -o lt_memory.so
//         $(pkg-config --cflags --libs systemc)
//     attnvp run --set l1.kind=plugin:./lt_memory.so
#include <tlm_utils/simple_target_socket.h>

#include <memory>
#include <systemc>
#include <vector>

#include "models/plugin/plugin.h"

namespace {

constexpr std::uint32_t kBytes = 64, kPorts = 3;

class LtMemory : public sc_core::sc_module {
 public:
  LtMemory(sc_core::sc_module_name name, double clock_hz) : sc_module(name), cycle_(1 / clock_hz, sc_core::SC_SEC) {
    for (std::uint32_t i = 0; i < kPorts; ++i) {
      auto& port = ports_.emplace_back(
          std::make_unique<tlm_utils::simple_target_socket_tagged<LtMemory>>(("port" + std::to_string(i)).c_str()));
      port->register_b_transport(this, &LtMemory::b_transport, static_cast<int>(i));
    }
  }
  tlm::tlm_target_socket<>& port(std::uint32_t number) { return *ports_.at(number); }

 private:
  void b_transport(int /*port*/, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    delay += ((payload.get_data_length() + kBytes - 1) / kBytes) * cycle_;
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }

  const sc_core::sc_time cycle_;
  std::vector<std::unique_ptr<tlm_utils::simple_target_socket_tagged<LtMemory>>> ports_;
};

class LtMemoryPlugin : public attnvp::MemoryPlugin {
 public:
  explicit LtMemoryPlugin(const attnvp::PluginContext& module_context)
      : memory_(module_context.name, module_context.clock_hz) {}
  tlm::tlm_target_socket<>& socket() override { return memory_.port(0); }
  std::uint32_t ports() const override { return kPorts; }
  tlm::tlm_target_socket<>& port(std::uint32_t number) override { return memory_.port(number); }
  std::uint32_t most_bytes() const override { return kBytes; }

 private:
  LtMemory memory_;
};

}  // namespace

ATTNVP_MEMORY_PLUGIN(LtMemoryPlugin)
