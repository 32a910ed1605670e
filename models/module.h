// What every model is: a SystemC module that can be asked for its counters and signals, knows its clock as a
// frequency (no toggling), and has one place to report faults.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "models/account/account.h"
#include "models/bus/jitter.h"
#include "models/counters/counter.h"
#include "models/cycle_limit.h"
#include "models/fault.h"
#include "models/partition.h"
#include "models/sim/event_queue.h"
#include "models/trace/signal.h"

namespace attnvp {

class Journal;

// A clock domain: cycles to SystemC time and back. The period is rounded to whole femtoseconds (the kernel's time
// resolution), so that every multiple of it is exact. Its time is the event_queue's; what has none only converts.
class Clock {
 public:
  explicit Clock(double hertz, const sim::EventQueue* event_queue = nullptr);
  double hertz() const { return hertz_; }
  // The time so many cycles from now, in femtoseconds. The kernel's ends after 2^64: what would lie beyond ends there,
  // and EventQueue::time_has_run_out tells.
  std::uint64_t after(std::uint64_t n) const {
    std::uint64_t fs = 0, then = 0;
    if (__builtin_mul_overflow(n, period_fs_, &fs) || __builtin_add_overflow(now_fs(), fs, &then)) {
      event_queue_->time_has_run_out = true;
      return UINT64_MAX;
    }
    return then;
  }
  sc_core::sc_time cycles(std::uint64_t n) const { return sc_core::sc_time::from_value(after(n) - now_fs()); }
  // The time at which a cycle begins; now, where that is over.
  std::uint64_t begin_of(std::uint64_t cycle) const {
    const std::uint64_t current = now();
    return cycle > current ? after(cycle - current) : now_fs();
  }
  std::uint64_t most_cycles() const { return UINT64_MAX / period_fs_; }
  std::uint64_t now() const { return whole_cycles(now_fs()); }  // since 0
  std::uint64_t ceil_cycles(const sc_core::sc_time& t) const {
    return t.value() == 0 ? 0 : whole_cycles(t.value() + period_fs_ - 1);
  }
  std::uint64_t period_fs() const { return period_fs_; }
  std::uint64_t now_fs() const { return event_queue_->now_fs(); }

 private:
  // fs / period_fs_, and models ask for every access: the product is at most 1 too small, and takes less time.
  std::uint64_t whole_cycles(std::uint64_t fs) const {
    const auto cycles = static_cast<std::uint64_t>(static_cast<__uint128_t>(fs) * reciprocal_ >> 64);
    return cycles + (fs - cycles * period_fs_ >= period_fs_ ? 1 : 0);
  }

  const sim::EventQueue* event_queue_;
  double hertz_;
  std::uint64_t period_fs_;
  std::uint64_t reciprocal_;  // 2^64 / period_fs_, less than 1 too small
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

// What all modules of one platform share.
struct Context {
  Context(double clock_hz, bool with_data, std::vector<Partition> of_clusters = {})
      : clock(clock_hz, &event_queue), full_data(with_data), partitions(std::move(of_clusters)) {}

  sim::EventQueue event_queue{"event_queue"};
  Clock clock;
  bool full_data;  // tensors are moved and computed; otherwise time and counts only
  FaultLog faults;
  CycleLimit cycle_limit;
  // The fault line: every blocking register access ends with an error once a fault was raised. What processes wait for
  // is registered here at construction.
  std::vector<sim::Condition*> fault_line;
  Givers givers;                              // of the events' tokens, for accounts
  std::unique_ptr<Jitter> jitter;             // random delays, while there is one
  Journal* journal = nullptr;                 // descriptors are written down while there is one
  std::vector<std::string> l1_tags{"other"};  // names of the tags that firmware gives its L1 space; for people
  std::vector<Partition> partitions;          // that clusters belong to, one each; none: all to the whole machine
  Partition partition_of(std::uint32_t cluster) const {
    return cluster < partitions.size() ? partitions[cluster] : Partition{};
  }
};

class Module : public sc_core::sc_module, public CounterOwner {
 public:
  Module(sc_core::sc_module_name module_name, Context& context) : sc_core::sc_module(module_name), ctx_(context) {}
  // A counter's value, by name. Throws std::out_of_range for none.
  std::uint64_t value(const std::string& counter) const;
  // Size in bytes of a memory, 0 for everything else: energy tables may depend on it.
  virtual std::uint64_t size_bytes() const { return 0; }
  // What the module waits for at this moment, empty when it is idle: the text of a deadlock report.
  virtual std::string waiting_for() const { return {}; }
  // Where the time of its units went; one entry a unit.
  virtual std::vector<Ledger> ledgers() const { return {}; }
  // A time, in femtoseconds, from which on its signals may still be told to have changed, though it is over by now.
  virtual std::uint64_t tells_from() const { return UINT64_MAX; }
  // Its target sockets take nb_transport at the platform's time. Otherwise processes call b_transport, at SystemC's
  // time (models/bus/lt_adaptor.h).
  virtual bool is_approximately_timed() const { return false; }
  // Back to the state after elaboration, between two jobs.
  virtual void reset() {}

 protected:
  void fault(FaultCode code, std::uint64_t address, std::string detail) {
    ctx_.faults.report({name(), ctx_.clock.now(), code, address, std::move(detail)});
    for (sim::Condition* wake : ctx_.fault_line) wake->notify();
  }
  Context& ctx_;
};

// Calls `visit` on every Module below `root`, parents first, in construction order.
void for_each_module(sc_core::sc_object& root, const std::function<void(Module&)>& visit);

}  // namespace attnvp
