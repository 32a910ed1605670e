// Bounded FIFO between two nodes, with a time for each element. Nodes run ahead of SystemC time, each with its own
// time. A channel gives the arrival cycle of each element and the cycle in which each slot is free. Rules, in cycles:
//   - at most `depth` elements are in flight; element i is sent at least one cycle after element i - depth was taken;
//   - an element sent at t whose result is due at u arrives at max(u, t + 1).
// Times depend on these rules only, not on the order in which the kernel runs the nodes.
#pragma once

#include <algorithm>
#include <boost/circular_buffer.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "models/memory/storage/host_memory.h"
#include "models/sim/module.h"
#include "models/streaming/graph.h"

namespace attnvp::stream {

// Waveforms of nodes that run ahead of each other: changes are recorded with their cycle, then played to the signals in
// order of time.
class TraceLog : public sc_core::sc_module {
 public:
  TraceLog(sc_core::sc_module_name name, const Clock& clock);

  void set(std::uint64_t cycle, Signal& signal, std::uint64_t value) {
    changes_.push_back({cycle, &signal, value, false});
  }
  void add(std::uint64_t cycle, Signal& signal, std::int64_t step) {
    changes_.push_back({cycle, &signal, static_cast<std::uint64_t>(step), true});
  }
  // Plays the recorded changes in SystemC time; cycle 0 is now. The last one of several changes of a signal in one
  // cycle is shown. Returns the cycle of the last change.
  std::uint64_t play();

 private:
  struct LoggedChange {
    std::uint64_t cycle;
    Signal* signal;
    std::uint64_t value;
    bool relative;
  };
  void step();

  const Clock& clock_;
  std::vector<LoggedChange> changes_;
  std::size_t next_ = 0;
  sc_core::sc_time start_;
  sc_core::sc_event go_;
};

class Channel : public Module {
 public:
  Channel(sc_core::sc_module_name name, Context& context, const ChannelSpec& spec);

  // Events of the nodes at both ends, notified when a node waits for this channel.
  void connect_writer(sc_core::sc_event& wake) { writer_wake_ = &wake; }
  void connect_reader(sc_core::sc_event& wake) { reader_wake_ = &wake; }
  void set_trace(TraceLog* log) { log_ = log; }

  std::uint64_t depth() const { return depth_; }
  // Before a run; or an increase while all nodes are blocked.
  void set_depth(std::uint64_t depth);

  // Writer's side. The time of a free slot is known once has_room().
  bool has_room() const { return sent_ - taken_ < limit_; }
  std::uint64_t room_cycle() const {
    const std::uint64_t before =
        sent_ - depth_;  // previous element of the slot; below freed_: freed before the last send
    return sent_ < depth_ || before < freed_ ? 0 : free_[before - freed_];
  }
  void push(std::uint64_t cycle, std::uint64_t due, const float* value);
  void wait_for_room() { writer_waits_ = true; }

  // Reader's side. The value stays valid until the next push.
  bool has_data() const { return taken_ < sent_; }
  std::uint64_t arrival() const { return arrivals_[taken_ & mask_]; }
  const float* value() const { return &values_[(taken_ & mask_) * spec_.width]; }
  void pop(std::uint64_t cycle);
  void wait_for_data() { reader_waits_ = true; }

  // Doubles the number of elements that the host stores of a deep channel. True if that limit had blocked the writer.
  bool grow_window();
  const std::string& refusal() const { return refusal_; }
  void release_writer();  // called outside the simulation: a waiting writer checks again

  // count() is called after a run and sets the counters. reset() is called before a run and leaves the initial tokens
  // only.
  void count();
  void reset() override;

  const ChannelSpec& spec() const { return spec_; }
  std::uint64_t element_bytes() const { return std::uint64_t{spec_.width} * sizeof(float); }
  std::uint64_t size_bytes() const override;  // of its depth; unbounded: of its peak

  Counter transfers{*this, "transfers", "elements", "elements that went through"};
  Counter peak{*this, "peak", "elements", "most elements in flight at once"};
  Counter writes{*this, "write_words", "16-bit words", "written into the FIFO", {"attnvp.fifo", "write"}};
  Counter reads{*this, "read_words", "16-bit words", "read from the FIFO", {"attnvp.fifo", "read"}};

 private:
  static void append(boost::circular_buffer<std::uint64_t>& queue, std::uint64_t value) {
    if (queue.full()) queue.set_capacity(2 * queue.capacity());
    queue.push_back(value);
  }
  void settle(std::uint64_t freed_at);
  bool allocate(std::uint64_t slots);  // false: the host has too little memory

  ChannelSpec spec_;
  std::uint64_t depth_;
  sc_core::sc_event* writer_wake_ = nullptr;
  sc_core::sc_event* reader_wake_ = nullptr;
  bool writer_waits_ = false, reader_waits_ = false;
  TraceLog* log_ = nullptr;
  Signal occupancy_{*this, "occupancy", 32};

  // Ring of mask_ + 1 slots with elements taken_ .. sent_ - 1.
  std::uint64_t sent_ = 0, taken_ = 0;
  std::uint64_t limit_ = 0, mask_ = 0;
  host_memory::MemoryShare host_;
  std::string refusal_;  // reason why it could not grow
  std::vector<std::uint64_t> arrivals_;
  std::vector<float> values_;

  // The number of elements in flight at a send is known once a slot is freed later. Therefore either some sends have no
  // number yet (from counted_ on), or some free times (from freed_ on) are later than all sends. One of the two queues
  // is empty.
  boost::circular_buffer<std::uint64_t> sends_{64}, free_{64};
  std::uint64_t counted_ = 0, freed_ = 0;
  std::uint64_t most_ = 0;
};

inline void Channel::push(std::uint64_t cycle, std::uint64_t due, const float* value) {
  const std::uint64_t slot = sent_ & mask_;
  arrivals_[slot] = due > cycle ? due : cycle + 1;
  std::copy_n(value, spec_.width, &values_[slot * spec_.width]);
  ++sent_;
  while (!free_.empty() && free_.front() <= cycle) {
    free_.pop_front();
    ++freed_;
  }
  if (free_.empty()) {
    append(sends_, cycle);
  } else {
    most_ = std::max(most_, sent_ - freed_);
    counted_ = sent_;
  }
  if (log_ != nullptr) log_->add(cycle, occupancy_, 1);
  if (reader_waits_) {
    reader_waits_ = false;
    reader_wake_->notify();
  }
}

inline void Channel::settle(std::uint64_t freed_at) {
  while (!sends_.empty() && sends_.front() < freed_at) {
    sends_.pop_front();
    ++counted_;
  }
  if (counted_ > freed_) most_ = std::max(most_, counted_ - freed_);
}

inline void Channel::pop(std::uint64_t cycle) {
  const std::uint64_t freed_at = cycle + 1;
  ++taken_;
  if (!sends_.empty()) settle(freed_at);
  if (sends_.empty()) {
    append(free_, freed_at);
  } else {
    ++freed_;
  }
  if (log_ != nullptr) log_->add(freed_at, occupancy_, -1);
  if (writer_waits_) {
    writer_waits_ = false;
    writer_wake_->notify();
  }
}

}  // namespace attnvp::stream
