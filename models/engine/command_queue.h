// A command queue as firmware sees it: a descriptor under construction, a doorbell, a level and a done count.
// Whoever owns it (an engine, a DMA channel) takes descriptors out in order.
#pragma once

#include <boost/circular_buffer.hpp>
#include <tlm>

#include "firmware/hal/descriptor.h"
#include "firmware/hal/registers.h"
#include "models/module.h"

namespace attnvp {

class CommandQueue {
 public:
  // `pushed`: what takes descriptors out, told of every one that came.
  CommandQueue(Context& context, std::uint32_t depth, const Partition& partition, sim::Event& pushed)
      : ctx_(context), partition_(partition), queue_(depth), pushed_(pushed), popped_(context.event_queue) {
    context.fault_line.push_back(&popped_);
  }

  // Whether it is to the descriptor under construction, which nobody but the writer sees before the doorbell: such an
  // access need not wait for its time.
  static bool builds(const tlm::tlm_generic_payload& payload, std::uint64_t offset) {
    return payload.is_write() && offset < hal::kQueueDoorbell;
  }
  // A register access at `offset` in the queue's window. The doorbell stalls the caller while the queue is full.
  void access(tlm::tlm_generic_payload& payload, std::uint64_t offset);

  bool empty() const { return queue_.empty(); }
  std::size_t level() const { return queue_.size(); }
  const hal::Descriptor& front() const { return queue_.front(); }
  // The descriptor under construction, as long as it says, with the platform's own addresses.
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
  Partition partition_;  // of those who fill the queue
  hal::Descriptor building_{};
  boost::circular_buffer<hal::Descriptor> queue_;
  std::uint64_t pushed_count_ = 0;
  std::uint32_t done_ = 0;
  FaultCode fault_ = FaultCode::kNone;
  std::uint64_t fault_address_ = 0;
  sim::Event& pushed_;
  sim::Condition popped_;  // processors wait for room
  Signal* level_signal_ = nullptr;
};

}  // namespace attnvp
