// Clocked DMA controller in RTL style: a command queue for each channel, and one state machine that serves the channels
// in turn. Bursts of 64 bytes are read, then written. It takes and gives events like the engines.
//
//     g++ -std=c++20 -DSC_CPLUSPLUS=201703L -shared -fPIC -I ATTNVP clocked_dma.cpp -o clocked_dma.so
//         $(pkg-config --cflags --libs systemc)
//     attnvp run --set dma.kind=plugin:./clocked_dma.so
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <systemc>
#include <vector>

#include "command_queue.h"
#include "models/plugin/plugin.h"

namespace {

namespace hal = attnvp::hal;

class ClockedDma : public sc_core::sc_module {
 public:
  ClockedDma(sc_core::sc_module_name name, const attnvp::PluginContext& module_context)
      : sc_module(name),
        clock_("clock", sc_core::sc_time(1 / module_context.clock_hz, sc_core::SC_SEC)),
        registers_(module_context.registers),
        events_(module_context.events),
        l1_(module_context.l1),
        l1_bytes_(module_context.l1_bytes),
        queues_(module_context.channels) {
    control.register_b_transport(this, &ClockedDma::access);
    SC_HAS_PROCESS(ClockedDma);
    for (std::uint32_t i = 0; i < module_context.channels; ++i) {
      sc_core::sc_spawn_options clocked;
      clocked.set_sensitivity(&clock_.posedge_event());
      clocked.dont_initialize();
      sc_core::sc_spawn([this, i] { serve(queues_[i]); }, ("channel" + std::to_string(i)).c_str(), &clocked);
    }
  }
  tlm_utils::simple_target_socket<ClockedDma> control{"control"};
  tlm_utils::simple_initiator_socket<ClockedDma> bus{"bus"}, l1{"l1"};

 private:
  static constexpr std::uint64_t kBurst = 64;

  void access(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    const std::uint64_t offset = payload.get_address() - registers_, channel = offset / hal::kQueueStride;
    if (channel < queues_.size()) return queues_[channel].access(payload, offset % hal::kQueueStride, delay);
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }

  void move(tlm::tlm_command command, std::uint64_t address, void* data, std::size_t bytes) {
    example::transport(address - l1_ < l1_bytes_ ? l1 : bus, command, address, data, bytes);
  }

  void serve(example::DescriptorQueue& queue) {
    std::vector<unsigned char> data(kBurst);
    while (true) {
      while (queue.empty()) wait();  // for a rising edge
      const hal::Descriptor d = queue.pop();
      example::take_events(bus, d, events_);
      const std::uint64_t planes = d.opcode == hal::Opcode::kCopy ? d.tail.copy.planes : 0;
      for (std::uint64_t plane = 0; plane < planes; ++plane) {
        const std::uint64_t in = plane == 0 ? 0 : plane * d.tail.copy.plane_stride[0];
        const std::uint64_t out = plane == 0 ? 0 : plane * d.tail.copy.plane_stride[1];
        for (std::uint64_t row = 0; row < d.rows; ++row) {
          for (std::uint64_t at = 0; at < d.row_bytes(0); at += kBurst) {
            const std::uint64_t bytes = std::min(kBurst, d.row_bytes(0) - at);
            const std::uint64_t from = d.operand[0].address + in + row * d.operand[0].row_stride + at;
            const std::uint64_t to = d.operand[1].address + out + row * d.operand[1].row_stride + at;
            wait();  // one cycle to start a burst
            move(tlm::TLM_READ_COMMAND, from, data.data(), bytes);
            move(tlm::TLM_WRITE_COMMAND, to, data.data(), bytes);
          }
        }
      }
      example::give_events(bus, d, events_);
      queue.count_done();
    }
  }

  sc_core::sc_clock clock_;
  const std::uint64_t registers_, events_, l1_, l1_bytes_;
  std::vector<example::DescriptorQueue> queues_;  // one for each channel
};

class ClockedDmaPlugin : public attnvp::DmaPlugin {
 public:
  explicit ClockedDmaPlugin(const attnvp::PluginContext& module_context) : dma_(module_context.name, module_context) {}
  tlm::tlm_target_socket<>& control() override { return dma_.control; }
  tlm::tlm_initiator_socket<>& l1() override { return dma_.l1; }
  tlm::tlm_initiator_socket<>& bus() override { return dma_.bus; }

 private:
  ClockedDma dma_;
};

}  // namespace

ATTNVP_DMA_PLUGIN(ClockedDmaPlugin)
