// Command queue with registers (firmware/hal/registers.h), and accesses from an SC_THREAD by b_transport, for the
// example engine and DMA controller.
#pragma once

#include <cstring>
#include <deque>
#include <systemc>
#include <tlm>

#include "firmware/hal/descriptor.h"
#include "firmware/hal/registers.h"

namespace example {

namespace hal = attnvp::hal;

class DescriptorQueue {
 public:
  // Register access at `offset` in the queue's window. The doorbell blocks while the queue is full.
  void access(tlm::tlm_generic_payload& payload, std::uint64_t offset, sc_core::sc_time& delay) {
    const std::uint64_t bytes = payload.get_data_length();
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    if (payload.is_write() && offset + bytes <= hal::kQueueDoorbell) {
      std::memcpy(reinterpret_cast<unsigned char*>(&building_) + offset, payload.get_data_ptr(), bytes);
    } else if (payload.is_write() && offset == hal::kQueueDoorbell) {
      sc_core::wait(delay);
      delay = sc_core::SC_ZERO_TIME;
      while (queue_.size() >= kDepth) sc_core::wait(popped_);
      queue_.push_back(building_);
      pushed_.notify();
    } else if (payload.is_read() && bytes == 4 && offset >= hal::kQueueLevel) {
      const auto level = static_cast<std::uint32_t>(queue_.size());
      const std::uint32_t value = offset == hal::kQueueLevel ? level : offset == hal::kQueueDone ? done_ : 0;
      std::memcpy(payload.get_data_ptr(), &value, sizeof value);
    } else {
      payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    }
  }

  bool empty() const { return queue_.empty(); }
  const sc_core::sc_event& pushed() const { return pushed_; }
  hal::Descriptor pop() {
    const hal::Descriptor descriptor = queue_.front();
    queue_.pop_front();
    popped_.notify();
    return descriptor;
  }
  void count_done() { ++done_; }

 private:
  static constexpr std::size_t kDepth = 16;
  hal::Descriptor building_{};
  std::deque<hal::Descriptor> queue_;
  std::uint32_t done_ = 0;
  sc_core::sc_event pushed_, popped_;
};

// Blocks until the access has completed.
template <class Socket>
void transport(Socket& socket, tlm::tlm_command command, std::uint64_t address, void* data, std::size_t bytes) {
  tlm::tlm_generic_payload payload;
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(static_cast<unsigned char*>(data));
  payload.set_data_length(static_cast<unsigned>(bytes));
  payload.set_streaming_width(static_cast<unsigned>(bytes));
  sc_core::sc_time delay;
  socket->b_transport(payload, delay);
  if (delay != sc_core::SC_ZERO_TIME) sc_core::wait(delay);
  if (!payload.is_response_ok()) SC_REPORT_ERROR("example", "an access was answered with an error");
}

// Writes the number of tokens to a register of each event in the reference.
template <class Socket>
void exchange(Socket& socket, hal::EventRef ref, std::uint64_t unit, std::uint64_t what) {
  std::uint32_t tokens = ref.tokens();
  for (std::uint32_t i = 0; tokens > 0 && i < ref.span(); ++i) {
    const std::uint64_t event = unit + (ref.first() + i) * hal::kEventStride;
    transport(socket, tlm::TLM_WRITE_COMMAND, event + what, &tokens, sizeof tokens);
  }
}

// Takes the tokens that a command waits for from the event unit at `unit`.
template <class Socket>
void take_events(Socket& socket, const hal::Descriptor& d, std::uint64_t unit) {
  for (const hal::EventRef& ref : d.wait) exchange(socket, ref, unit, hal::kEventTake);
}
// Gives the tokens of a completed command.
template <class Socket>
void give_events(Socket& socket, const hal::Descriptor& d, std::uint64_t unit) {
  for (int i = 0; i < hal::kSignals; ++i) {
    const bool is_remote = d.remote != 0 && i == hal::kSignals - 1;
    exchange(socket, d.signal[i], is_remote ? hal::events_base(d.remote - 1) : unit, hal::kEventSignal);
  }
}

}  // namespace example
