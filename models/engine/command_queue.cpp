#include "models/engine/command_queue.h"

#include <cstring>

#include "firmware/hal/registers.h"

namespace attnvp {

hal::Descriptor CommandQueue::built() const {
  hal::Descriptor d = building_;
  finish(d);
  return d;
}

void CommandQueue::finish(hal::Descriptor& d) const {
  if (d.length < sizeof d) std::memset(reinterpret_cast<unsigned char*>(&d) + d.length, 0, sizeof d - d.length);
  partition_.place(d);
}

bool CommandQueue::push() {
  while (queue_.full()) {
    if (ctx_.faults.any()) return false;
    popped_.wait();
  }
  if (ctx_.faults.any()) return false;
  queue_.push_back(building_);
  finish(queue_.back());
  ++pushed_count_;
  if (level_signal_ != nullptr) level_signal_->set(queue_.size());
  pushed_.notify_delta();
  return true;
}

void CommandQueue::pop() {
  queue_.pop_front();
  if (level_signal_ != nullptr) level_signal_->set(queue_.size());
  popped_.notify();
}

void CommandQueue::reset() {
  queue_.clear();
  done_ = 0;
  fault_ = FaultCode::kNone;
  fault_address_ = 0;
  building_ = {};
}

void CommandQueue::access(tlm::tlm_generic_payload& payload, std::uint64_t offset) {
  const std::uint64_t bytes = payload.get_data_length();
  unsigned char* data = payload.get_data_ptr();
  if (payload.get_byte_enable_ptr() != nullptr) {
    payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    return;
  }
  const auto reply = [&](const void* from, std::size_t size) {
    const bool ok = payload.is_read() && bytes == size;
    if (ok) std::memcpy(data, from, size);
    payload.set_response_status(ok ? tlm::TLM_OK_RESPONSE : tlm::TLM_COMMAND_ERROR_RESPONSE);
  };

  if (offset < hal::kQueueDoorbell) {
    if (!payload.is_write() || offset + bytes > sizeof building_) {
      payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
      return;
    }
    std::memcpy(reinterpret_cast<unsigned char*>(&building_) + offset, data, bytes);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  } else if (offset == hal::kQueueDoorbell && payload.is_write() && bytes == 4) {
    payload.set_response_status(push() ? tlm::TLM_OK_RESPONSE : tlm::TLM_GENERIC_ERROR_RESPONSE);
  } else if (offset == hal::kQueueLevel) {
    const auto level = static_cast<std::uint32_t>(queue_.size());
    reply(&level, sizeof level);
  } else if (offset == hal::kQueueDone) {
    reply(&done_, sizeof done_);
  } else if (offset == hal::kQueueFault) {
    reply(&fault_, sizeof fault_);
  } else if (offset == hal::kQueueFaultAddress) {
    reply(&fault_address_, sizeof fault_address_);
  } else {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }
}

}  // namespace attnvp
