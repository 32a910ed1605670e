// Base class of all models: a SystemC module with counters, signals, an untoggled clock and fault reports. Context
// holds what the modules of a platform share.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <unordered_map>
#include <vector>

#include "models/interconnect/address_map.h"
#include "models/sim/event_queue.h"
#include "models/sim/fault.h"
#include "models/sim/stall_attribution.h"
#include "models/sim/state_visitor.h"
#include "models/sim/trace/signal.h"

namespace attnvp {

// Random extra delays for tests (`run --jitter SEED`): after each access, and before it if the initiator can wait. They
// change times and must not change results. Active while Context::jitter is set.
class Jitter {
 public:
  // Delays are whole clock periods of the platform. Equal seeds give equal delays.
  Jitter(std::uint64_t seed, std::uint64_t period_fs);

  // Delay of one access of an initiator's socket: usually zero, rarely very long.
  sc_core::sc_time delay(const char* initiator) { return sc_core::sc_time::from_value(cycles(initiator) * period_fs_); }
  std::uint64_t cycles(const char* initiator);

 private:
  // Each initiator has its own parameters, so that one initiator can lag behind the others for a long time.
  struct Initiator {
    std::uint64_t state = 0;
    std::uint32_t one_in = 0;     // one of so many accesses is delayed; 0: none
    std::uint32_t most_bits = 0;  // by up to 2^most_bits cycles
  };
  Initiator& of(const char* name);

  std::uint64_t seed_, period_fs_;
  std::unordered_map<std::string, Initiator> initiators_;
};

// Limit on the cycles of firmware, which stops programs that do not terminate. Unit: cycles of the platform clock since
// the start of the processor; for untimed firmware, cycles of the control processor.
class CycleLimit {
 public:
  static constexpr std::uint64_t kUntimed = 10'000'000'000;  // the default for untimed firmware

  // `most`: limit that the user set; 0: none.
  void set_by_user(std::uint64_t most) { by_user_ = most; }
  // `cycles`: least duration that is expected of the job. `most`: limit of this run; 0: none.
  void set_for_job(double cycles, std::uint64_t most = 0) {
    constexpr double kLeast = 2e10, kTimes = 1000, kMost = 1e18;
    by_job_ = static_cast<std::uint64_t>(std::min(kLeast + kTimes * cycles, kMost));
    of_run_ = most;
  }
  std::uint64_t cycles() const { return of_run_ != 0 ? of_run_ : by_user_ != 0 ? by_user_ : by_job_; }
  std::string sentence() const {
    return fmt::format("firmware has not ended after {} cycles; --max-cycles allows more", cycles());
  }

 private:
  std::uint64_t by_user_ = 0, by_job_ = UINT64_MAX, of_run_ = 0;
};

// Energy of one count: an action of a component class of the energy table (Accelergy's ERT).
struct Action {
  const char* component = nullptr;  // nullptr: the counter carries no energy
  const char* name = nullptr;
  bool optional = false;  // not counted if the table lacks the component, as in papers' tables
};

class CounterOwner;

// Self-describing counter. A module declares each counter as a member. Reports and energy read the counters of the
// module tree.
class Counter {
 public:
  Counter(CounterOwner& owner, const char* name, const char* unit, const char* description, Action action = {});
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;

  Counter& operator+=(std::uint64_t n) {
    value_ += n;
    return *this;
  }
  void raise_to(std::uint64_t n) {  // for high-water marks
    if (n > value_) value_ = n;
    is_mark_ = true;
  }
  // Counts 16-bit words from a number of bytes. An odd byte is combined with the next one; a last odd byte counts as a
  // word.
  void add_bytes(std::uint64_t bytes) {
    value_ += (odd_bytes_ + bytes) / 2;
    odd_bytes_ = (odd_bytes_ + bytes) % 2;
  }
  // For totals that follow from others: StateVisitor::sum() of those, and Module::recount().
  void follow(std::uint64_t n) {
    raise_to(n);
    follows_ = true;
  }
  void reset() { value_ = odd_bytes_ = 0; }
  void visit_state(sim::StateVisitor& visitor);
  std::uint64_t value() const { return value_ + odd_bytes_; }

  const char* name() const { return name_; }
  const char* unit() const { return unit_; }
  const char* description() const { return description_; }
  const Action& action() const { return action_; }

 private:
  const char* name_;
  const char* unit_;
  const char* description_;
  Action action_;
  std::uint64_t value_ = 0, odd_bytes_ = 0;
  bool is_mark_ = false, follows_ = false;
};

class CommandTrace;
class SteadyState;

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
  SignallingDescriptors signallers;       // descriptors that signalled each event, for stall attribution
  std::unique_ptr<Jitter> jitter;         // random delays; nullptr: none
  CommandTrace* command_trace = nullptr;  // trace of all descriptors; nullptr: none
  SteadyState* steady_state = nullptr;    // detection of periods; nullptr: none
  std::uint64_t skipped_cycles = 0;       // of periods that were not simulated, in this run
  std::uint64_t cycles() const { return clock.now() + skipped_cycles; }  // since time 0
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
  // (LtAdaptor).
  virtual bool is_approximately_timed() const { return false; }
  // Returns to the state after elaboration, between two jobs.
  virtual void reset() {}
  // Shows everything that later times and counts depend on, and the counts, in timing mode without traces. False: the
  // state cannot be shown; no steady state is then detected.
  virtual bool visit_state(sim::StateVisitor& /*visitor*/) { return false; }
  virtual void recount() {}  // after sums have grown: counters that follow()

 protected:
  void visit_counters(sim::StateVisitor& visitor) {
    for (Counter* const counter : counters()) counter->visit_state(visitor);
  }
  void fault(FaultCode code, std::uint64_t address, std::string detail) {
    ctx_.faults.report({name(), ctx_.cycles(), code, address, std::move(detail)});
    for (sim::Condition* wake : ctx_.fault_line) wake->notify();
  }
  Context& ctx_;
};

// Calls `visit` for every Module below `root`: parents first, in construction order.
void for_each_module(sc_core::sc_object& root, const std::function<void(Module&)>& visit);

// Interface of modules whose processes never end, such as a plug-in with a clock or refreshes. A platform with such a
// module, or with an sc_clock, never runs out of events. It therefore polls ends_later() for pending work.
class Endless {
 public:
  // True if an access of the platform completes later, at a known time.
  virtual bool ends_later() const = 0;

 protected:
  ~Endless() = default;
};

}  // namespace attnvp
