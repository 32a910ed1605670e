// Base class of all models: a SystemC module with counters, signals, an untoggled clock and fault reports.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "models/interconnect/bus/jitter.h"
#include "models/interconnect/partition.h"
#include "models/sim/counter.h"
#include "models/sim/cycle_limit.h"
#include "models/sim/event_queue.h"
#include "models/sim/fault.h"
#include "models/sim/stall_attribution.h"
#include "models/sim/trace/signal.h"

namespace attnvp {

class CommandTrace;

// Clock domain: converts cycles to SystemC time and back. The period is rounded to whole femtoseconds, the kernel's
// time resolution. Every multiple of it is therefore exact. Without an event queue the clock only converts.
class Clock {
 public:
  explicit Clock(double hertz, const sim::EventQueue* event_queue = nullptr);
  double hertz() const { return hertz_; }
  // Time `n` cycles from now, in femtoseconds. A result above 2^64 is saturated and sets EventQueue::time_has_run_out.
  std::uint64_t after(std::uint64_t n) const {
    std::uint64_t fs = 0, then = 0;
    if (__builtin_mul_overflow(n, period_fs_, &fs) || __builtin_add_overflow(now_fs(), fs, &then)) {
      event_queue_->time_has_run_out = true;
      return UINT64_MAX;
    }
    return then;
  }
  sc_core::sc_time cycles(std::uint64_t n) const { return sc_core::sc_time::from_value(after(n) - now_fs()); }
  // Time at which `cycle` begins; now if that is past.
  std::uint64_t begin_of(std::uint64_t cycle) const {
    const std::uint64_t current = now();
    return cycle > current ? after(cycle - current) : now_fs();
  }
  std::uint64_t most_cycles() const { return UINT64_MAX / period_fs_; }
  std::uint64_t now() const { return whole_cycles(now_fs()); }  // cycles since time 0
  std::uint64_t ceil_cycles(const sc_core::sc_time& t) const {
    return t.value() == 0 ? 0 : whole_cycles(t.value() + period_fs_ - 1);
  }
  std::uint64_t period_fs() const { return period_fs_; }
  std::uint64_t now_fs() const { return event_queue_->now_fs(); }

 private:
  // fs / period_fs_ by multiplication, since every access computes it. The product is at most 1 too small.
  std::uint64_t whole_cycles(std::uint64_t fs) const {
    const auto cycles = static_cast<std::uint64_t>(static_cast<__uint128_t>(fs) * reciprocal_ >> 64);
    return cycles + (fs - cycles * period_fs_ >= period_fs_ ? 1 : 0);
  }

  const sim::EventQueue* event_queue_;
  double hertz_;
  std::uint64_t period_fs_;
  std::uint64_t reciprocal_;  // 2^64 / period_fs_, rounded down
};

class CounterOwner {
 public:
  virtual ~CounterOwner() = default;
  const std::vector<Counter*>& counters() const { return counters_; }
  const std::vector<Signal*>& signals() const { return signals_; }

 private:
  friend class Counter;
  friend class Signal;
  std::vector<Counter*> counters_;
  std::vector<Signal*> signals_;
};

// State that all modules of one platform share.
struct Context {
  Context(double clock_hz, bool with_data, std::vector<Partition> of_clusters = {})
      : clock(clock_hz, &event_queue), full_data(with_data), partitions(std::move(of_clusters)) {}

  sim::EventQueue event_queue{"event_queue"};
  Clock clock;
  bool full_data;  // tensors are moved and computed; false: time and counts only
  FaultLog faults;
  CycleLimit cycle_limit;
  // Conditions that a fault notifies. After a fault every blocking register access ends with an error. Modules register
  // the conditions of their processes at construction.
  std::vector<sim::Condition*> fault_line;
  SignallingDescriptors signallers;           // descriptors that signalled each event, for stall attribution
  std::unique_ptr<Jitter> jitter;             // random delays; nullptr: none
  CommandTrace* command_trace = nullptr;      // trace of all descriptors; nullptr: none
  std::vector<std::string> l1_tags{"other"};  // names of firmware's tags of L1 space, for reports
  std::vector<Partition> partitions;          // partition of each cluster; empty: one machine
  Partition partition_of(std::uint32_t cluster) const {
    return cluster < partitions.size() ? partitions[cluster] : Partition{};
  }
};

class Module : public sc_core::sc_module, public CounterOwner {
 public:
  Module(sc_core::sc_module_name module_name, Context& context) : sc_core::sc_module(module_name), ctx_(context) {}
  // Value of the counter of that name; throws std::out_of_range if there is none.
  std::uint64_t value(const std::string& counter) const;
  // Size of a memory in bytes, otherwise 0. Energy tables may depend on it.
  virtual std::uint64_t size_bytes() const { return 0; }
  // Text for deadlock reports: the event or resource that the module waits for; empty if it is idle.
  virtual std::string waiting_for() const { return {}; }
  // Cycles by stall reason, one entry per unit.
  virtual std::vector<StallCounts> stall_counts() const { return {}; }
  // Earliest time in femtoseconds from which signal changes may still be reported; may lie before now.
  virtual std::uint64_t tells_from() const { return UINT64_MAX; }
  // True if the target sockets take nb_transport at platform time. Otherwise processes call b_transport at SystemC time
  // (models/interconnect/bus/lt_adaptor.h).
  virtual bool is_approximately_timed() const { return false; }
  // Returns to the state after elaboration, between two jobs.
  virtual void reset() {}

 protected:
  void fault(FaultCode code, std::uint64_t address, std::string detail) {
    ctx_.faults.report({name(), ctx_.clock.now(), code, address, std::move(detail)});
    for (sim::Condition* wake : ctx_.fault_line) wake->notify();
  }
  Context& ctx_;
};

// Calls `visit` for every Module below `root`: parents first, in construction order.
void for_each_module(sc_core::sc_object& root, const std::function<void(Module&)>& visit);

}  // namespace attnvp
