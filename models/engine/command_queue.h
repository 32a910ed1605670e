// Command queue: a descriptor under construction, a doorbell, a level and a done count (firmware/hal/registers.h). Its
// owner, an engine or a DMA channel, removes descriptors in order.
#pragma once

#include <boost/circular_buffer.hpp>
#include <tlm>

#include "firmware/hal/descriptor.h"
#include "firmware/hal/registers.h"
#include "models/sim/module.h"

namespace attnvp {

class CommandQueue {
 public:
  // `pushed` is notified of every new descriptor.
  CommandQueue(Context& context, std::uint32_t depth, const Partition& partition, sim::Event& pushed)
      : ctx_(context), partition_(partition), queue_(depth), pushed_(pushed), popped_(context.event_queue) {
    context.fault_line.push_back(&popped_);
  }

  // True for a write to the descriptor under construction. The descriptor is invisible before the doorbell, so that
  // such a write may be executed ahead of its time.
  static bool builds(const tlm::tlm_generic_payload& payload, std::uint64_t offset) {
    return payload.is_write() && offset < hal::kQueueDoorbell;
  }
  // Register access at `offset` of the queue's window. The doorbell stalls the caller while the queue is full.
  void access(tlm::tlm_generic_payload& payload, std::uint64_t offset);

  bool empty() const { return queue_.empty(); }
  std::size_t level() const { return queue_.size(); }
  const hal::Descriptor& front() const { return queue_.front(); }
  // The descriptor under construction, cut to its length, with addresses of the platform's address map.
  hal::Descriptor built() const;
  void pop();
  std::uint64_t pushed_count() const { return pushed_count_; }
  void count_done() { ++done_; }
  void set_fault(FaultCode code, std::uint64_t address) {
    fault_ = code;
    fault_address_ = address;
  }
  void reset();
  void show_level_in(Signal* signal) { level_signal_ = signal; }

 private:
  bool push();
  void finish(hal::Descriptor& descriptor) const;

  Context& ctx_;
  Partition partition_;  // partition of the firmware that fills the queue
  hal::Descriptor building_{};
  boost::circular_buffer<hal::Descriptor> queue_;
  std::uint64_t pushed_count_ = 0;
  std::uint32_t done_ = 0;
  FaultCode fault_ = FaultCode::kNone;
  std::uint64_t fault_address_ = 0;
  sim::Event& pushed_;
  sim::Condition popped_;  // processors wait for a free entry
  Signal* level_signal_ = nullptr;
};

}  // namespace attnvp
