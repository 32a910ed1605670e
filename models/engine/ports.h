// Register and event ports of an engine or a DMA channel: its command queue, and its port to hardware events.
#pragma once

#include <boost/circular_buffer.hpp>
#include <tlm>
#include <utility>

#include "firmware/hal/descriptor.h"
#include "firmware/hal/registers.h"
#include "models/engine/descriptor_check.h"
#include "models/interconnect/bus/initiator.h"
#include "models/sim/module.h"
#include "models/sim/stall_attribution.h"
#include "models/sim/trace/command_trace.h"
#include "models/sim/trace/signal.h"

namespace attnvp {

// The traced command; nullptr: not traced.
inline CommandTrace::TracedCommand* traced(Context& context, CommandTrace::Id id) {
  return id == CommandTrace::kNone ? nullptr : &context.command_trace->of(id);
}

// Signals of the command that a unit executes.
struct CommandSignals {
  CommandSignals(CounterOwner& owner, const std::string& prefix);
  void show(const hal::Descriptor& descriptor, std::uint64_t of_queue);  // position in the order of the queue, from 1
  void show_none();
  Signal operation, number, head, row_block;
};

// Command queue: a descriptor under construction, a doorbell, a level and a done count (firmware/hal/registers.h). Its
// owner, an engine or a DMA channel, removes descriptors in order.
class CommandQueue {
 public:
  // `pushed` is notified of every new descriptor.
  CommandQueue(Context& context, std::uint32_t depth, const Partition& partition, sim::Event& pushed)
      : ctx_(context),
        partition_(partition),
        queue_(depth),
        shapes_(depth + kMostTaken),
        pushed_(pushed),
        popped_(context.event_queue) {
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
  // Shows the descriptors in the queue and the `taken` last ones that were removed.
  void visit_state(sim::StateVisitor& visitor, std::size_t taken) const;
  void show_level_in(Signal* signal) { level_signal_ = signal; }

 private:
  static constexpr std::size_t kMostTaken = 64;  // of visit_state()
  bool push();
  void finish(hal::Descriptor& descriptor) const;

  Context& ctx_;
  Partition partition_;  // partition of the firmware that fills the queue
  hal::Descriptor building_{};
  boost::circular_buffer<hal::Descriptor> queue_;
  std::uint64_t pushed_count_ = 0;
  boost::circular_buffer<std::uint64_t> shapes_;  // of the last descriptors, while a steady state is looked for
  std::uint32_t done_ = 0;
  FaultCode fault_ = FaultCode::kNone;
  std::uint64_t fault_address_ = 0;
  sim::Event& pushed_;
  sim::Condition popped_;  // processors wait for a free entry
  Signal* level_signal_ = nullptr;
};

// Port of an engine to hardware events. It takes and signals the tokens of a descriptor over its own socket, one access
// at a time. Taking and signalling are separate processes, so that neither blocks the other.
class EventPort {
 public:
  // Events are numbered within the cluster whose event unit starts at `base`.
  EventPort(const char* name, Context& context, std::uint64_t base, std::uint32_t events);

  InitiatorSocket out;

  // `co_await events.take(...)` returns when all tokens of the descriptor are taken or given. The descriptor must stay
  // valid until then. An access never ends if it is refused or if its tokens never arrive.
  sim::Completion::Awaiter take(const hal::Descriptor& descriptor, CommandTrace::Id id) {
    return begin(take_, descriptor, id);
  }
  sim::Completion::Awaiter give(const hal::Descriptor& descriptor, CommandTrace::Id id) {
    return begin(give_, descriptor, id);
  }
  Refusal check(const hal::Descriptor& descriptor) const;  // of its header, and that its events exist
  // Number of the event that the port waits for; -1: none.
  int waiting_for() const { return waiting_; }
  void visit_state(sim::StateVisitor& visitor) const;
  // Waits for events that a descriptor has taken are attributed to their signallers.
  void attribute_in(StallAttribution& stalls) { stalls_ = &stalls; }
  void show_waiting_in(Signal* signal) { signal_ = signal; }

 private:
  // State of one direction.
  struct EventDirection {
    explicit EventDirection(Context& context) : access(context) {}
    sim::Semaphore requested;
    sim::Completion done;
    AtInitiator access;
    OriginExtension origin;  // outlives the payload that it is attached to
    OwnedPayload payload;
    const hal::Descriptor* descriptor = nullptr;
    CommandTrace::Id id = CommandTrace::kNone;
    std::uint32_t tokens = 0;
  };
  sim::Completion::Awaiter begin(EventDirection& side, const hal::Descriptor& descriptor, CommandTrace::Id id);
  tlm::tlm_generic_payload& access(EventDirection& side, std::uint64_t address, std::uint32_t tokens);
  sim::Process take_all();
  sim::Process give_all();

  Context& ctx_;
  std::uint64_t base_;
  std::uint32_t events_;
  int waiting_ = -1;
  Signal* signal_ = nullptr;
  StallAttribution* stalls_ = nullptr;
  EventDirection take_, give_;
  sim::Process takes_, gives_;
};

}  // namespace attnvp
