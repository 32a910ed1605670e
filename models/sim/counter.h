// Self-describing counters. A module declares each counter as a member. Reports and energy read the counters of the
// module tree (models/sim/module.h).
#pragma once

#include <cstdint>
#include <string>

namespace attnvp {

// Energy of one count: an action of a component class of the energy table (Accelergy's ERT).
struct Action {
  const char* component = nullptr;  // nullptr: the counter carries no energy
  const char* name = nullptr;
  bool optional = false;  // not counted if the table lacks the component, as in papers' tables
};

class CounterOwner;

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
  }
  // Counts 16-bit words from a number of bytes. An odd byte is combined with the next one; a last odd byte counts as a
  // word.
  void add_bytes(std::uint64_t bytes) {
    value_ += (odd_bytes_ + bytes) / 2;
    odd_bytes_ = (odd_bytes_ + bytes) % 2;
  }
  void reset() { value_ = odd_bytes_ = 0; }
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
};

}  // namespace attnvp
