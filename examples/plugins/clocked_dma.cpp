// A DMA controller as one would write it in RTL: a clock, a queue of commands for each channel, and one state machine
// that serves the channels in turn. A burst of 64 bytes is read, then written. It takes and gives events as engines do.
//
//     g++ -std=c++20 -DSC_CPLUSPLUS=201703L -shared -fPIC -I ATTNVP clocked_dma.cpp -o clocked_dma.so $(pkg-config
//     --cflags --libs systemc) attnvp run --set dma.kind=plugin:./clocked_dma.so
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <systemc>
#include <vector>

#include "firmware/hal/descriptor.h"
#include "firmware/hal/registers.h"
#include "models/plugin/plugin.h"

namespace {

namespace hal = attnvp::hal;

class ClockedDma : public sc_core::sc_module {
 public:
  ClockedDma(sc_core::sc_module_name name, const attnvp::PluginSite& site)
      : sc_module(name),
        clock_("clock", sc_core::sc_time(1 / site.clock_hz, sc_core::SC_SEC)),
        registers_(site.registers),
        events_(site.events),
        l1_(site.l1),
        l1_bytes_(site.l1_bytes),
        channels_(site.channels) {
    control.register_b_transport(this, &ClockedDma::access);
    SC_HAS_PROCESS(ClockedDma);
    for (std::uint32_t i = 0; i < site.channels; ++i) {
      sc_core::sc_spawn_options clocked;
      clocked.set_sensitivity(&clock_.posedge_event());
      clocked.dont_initialize();
      sc_core::sc_spawn([this, i] { serve(channels_[i]); }, ("channel" + std::to_string(i)).c_str(), &clocked);
    }
  }
  tlm_utils::simple_target_socket<ClockedDma> control{"control"};
  tlm_utils::simple_initiator_socket<ClockedDma> bus{"bus"}, l1{"l1"};

 private:
  static constexpr std::size_t kDepth = 16;
  static constexpr std::uint64_t kBurst = 64;
  struct Channel {
    hal::Descriptor building{};
    std::deque<hal::Descriptor> queue;
    std::uint32_t done = 0;
  };

  // Registers: hal/registers.h.
  void access(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    const std::uint64_t offset = payload.get_address() - registers_, within = offset % hal::kQueueStride;
    const std::uint64_t bytes = payload.get_data_length();
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    if (offset / hal::kQueueStride >= channels_.size()) return;
    Channel& channel = channels_[offset / hal::kQueueStride];
    if (payload.is_write() && within + bytes <= hal::kQueueDoorbell) {
      std::memcpy(reinterpret_cast<unsigned char*>(&channel.building) + within, payload.get_data_ptr(), bytes);
    } else if (payload.is_write() && within == hal::kQueueDoorbell) {
      wait(delay);
      delay = sc_core::SC_ZERO_TIME;
      while (channel.queue.size() >= kDepth) wait(popped_);
      channel.queue.push_back(channel.building);
    } else if (payload.is_read() && bytes == 4 && within >= hal::kQueueLevel) {
      const auto level = static_cast<std::uint32_t>(channel.queue.size());
      const std::uint32_t value = within == hal::kQueueLevel ? level : within == hal::kQueueDone ? channel.done : 0;
      std::memcpy(payload.get_data_ptr(), &value, sizeof value);
    } else {
      return;
    }
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }

  bool in_l1(std::uint64_t address) const { return address - l1_ < l1_bytes_; }
  void move(bool write, std::uint64_t address, void* data, std::size_t bytes) {
    tlm::tlm_generic_payload payload;
    payload.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    payload.set_address(address);
    payload.set_data_ptr(static_cast<unsigned char*>(data));
    payload.set_data_length(static_cast<unsigned>(bytes));
    payload.set_streaming_width(static_cast<unsigned>(bytes));
    sc_core::sc_time delay;
    in_l1(address) ? l1->b_transport(payload, delay) : bus->b_transport(payload, delay);
    if (delay != sc_core::SC_ZERO_TIME) wait(delay);
    if (!payload.is_response_ok()) SC_REPORT_ERROR("clocked_dma", "a burst was answered with an error");
  }
  // Tokens of all events that a reference names.
  void exchange(hal::EventRef ref, std::uint64_t unit, std::uint64_t what) {
    std::uint32_t tokens = ref.tokens();
    for (std::uint32_t i = 0; tokens > 0 && i < ref.span(); ++i) {
      move(true, unit + (ref.first() + i) * hal::kEventStride + what, &tokens, sizeof tokens);
    }
  }

  void serve(Channel& channel) {
    std::vector<unsigned char> data(kBurst);
    while (true) {
      while (channel.queue.empty()) wait();  // for a rising edge
      const hal::Descriptor d = channel.queue.front();
      channel.queue.pop_front();
      popped_.notify();
      for (const hal::EventRef& ref : d.wait) exchange(ref, events_, hal::kEventTake);
      const bool copies = d.opcode == hal::Opcode::kCopy;
      const std::uint64_t planes = d.length > hal::kDescriptorBytes ? d.tail.copy.planes : 1;
      for (std::uint64_t plane = 0; copies && plane < planes; ++plane) {
        const std::uint64_t in = plane == 0 ? 0 : plane * d.tail.copy.plane_stride[0];
        const std::uint64_t out = plane == 0 ? 0 : plane * d.tail.copy.plane_stride[1];
        for (std::uint64_t row = 0; row < d.rows; ++row) {
          for (std::uint64_t at = 0; at < d.row_bytes(0); at += kBurst) {
            const std::uint64_t bytes = std::min(kBurst, d.row_bytes(0) - at);
            wait();  // a cycle to begin a burst
            move(false, d.operand[0].address + in + row * d.operand[0].row_stride + at, data.data(), bytes);
            move(true, d.operand[1].address + out + row * d.operand[1].row_stride + at, data.data(), bytes);
          }
        }
      }
      for (int i = 0; i < hal::kSignals; ++i) {
        const bool is_remote = d.remote != 0 && i == hal::kSignals - 1;
        exchange(d.signal[i], is_remote ? hal::events_base(d.remote - 1) : events_, hal::kEventSignal);
      }
      ++channel.done;
    }
  }

  sc_core::sc_clock clock_;
  const std::uint64_t registers_, events_, l1_, l1_bytes_;
  std::vector<Channel> channels_;
  sc_core::sc_event popped_;
};

class Plugin : public attnvp::DmaPlugin {
 public:
  explicit Plugin(const attnvp::PluginSite& site) : dma_(site.name, site) {}
  tlm::tlm_target_socket<>& control() override { return dma_.control; }
  tlm::tlm_initiator_socket<>& l1() override { return dma_.l1; }
  tlm::tlm_initiator_socket<>& bus() override { return dma_.bus; }

 private:
  ClockedDma dma_;
};

}  // namespace

ATTNVP_DMA_PLUGIN(Plugin)
