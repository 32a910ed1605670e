// Loosely timed control processor: it runs the shipped firmware, compiled into the library. Each bus access takes eight
// cycles of the platform's clock.
//
//     FIRMWARE="ATTNVP/firmware/runtime/*.cpp ATTNVP/firmware/runtime/{attention,product}/*.cpp
//         ATTNVP/firmware/dataflows/*.cpp
//         ATTNVP/models/control/control_processor/cpu.cpp"
//     g++ -std=c++20 -DSC_CPLUSPLUS=201703L -O1 -fno-toplevel-reorder -shared -fPIC -I ATTNVP
//         lt_processor.cpp $FIRMWARE -o lt_processor.so $(pkg-config --cflags --libs systemc)
//     attnvp run --set control.cpu=plugin:./lt_processor.so
#include <tlm_utils/simple_initiator_socket.h>

#include <functional>
#include <systemc>

#include "firmware/runtime/dataflow.h"
#include "models/control/control_processor/cpu.h"
#include "models/plugin/plugin.h"

namespace {

class LtProcessor : public sc_core::sc_module, private attnvp::hal::Cpu {
 public:
  LtProcessor(sc_core::sc_module_name name, const attnvp::PluginContext& module_context)
      : sc_module(name),
        cluster_(module_context.cluster),
        access_(8 / module_context.clock_hz, sc_core::SC_SEC),
        finished_(module_context.finished) {
    SC_HAS_PROCESS(LtProcessor);
    SC_THREAD(run);
    sensitive << start_;
    dont_initialize();
  }
  tlm_utils::simple_initiator_socket<LtProcessor> bus{"bus"};
  void start() { start_.notify(); }

 private:
  void run() {
    while (true) {
      attnvp::firmware::boot(*this, cluster_);
      finished_();
      wait();
    }
  }
  bool access(tlm::tlm_command command, std::uint64_t address, void* data, std::size_t bytes) {
    tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(static_cast<unsigned char*>(data));
    payload.set_data_length(static_cast<unsigned>(bytes));
    payload.set_streaming_width(static_cast<unsigned>(bytes));
    sc_core::sc_time delay = access_;
    bus->b_transport(payload, delay);
    wait(delay);
    return payload.is_response_ok();
  }
  bool read(std::uint64_t address, void* data, std::size_t bytes) override {
    return access(tlm::TLM_READ_COMMAND, address, data, bytes);
  }
  bool write(std::uint64_t address, const void* data, std::size_t bytes) override {
    return access(tlm::TLM_WRITE_COMMAND, address, const_cast<void*>(data), bytes);
  }

  const std::uint32_t cluster_;
  const sc_core::sc_time access_;
  const std::function<void()> finished_;
  sc_core::sc_event start_;
};

class LtProcessorPlugin : public attnvp::ProcessorPlugin {
 public:
  explicit LtProcessorPlugin(const attnvp::PluginContext& module_context)
      : processor_(module_context.name, module_context) {}
  tlm::tlm_initiator_socket<>& bus() override { return processor_.bus; }
  void start() override { processor_.start(); }

 private:
  LtProcessor processor_;
};

}  // namespace

ATTNVP_PROCESSOR_PLUGIN(LtProcessorPlugin)
