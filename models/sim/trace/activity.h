// Intervals of counted work, for power over time. A counter changes in one step, when its module knows the amount;
// power needs the interval. Modules report while a CommandTrace with an Activity is attached to their Context.
#pragma once

#include <cstdint>

#include "models/sim/module.h"
#include "models/sim/trace/command_trace.h"

namespace attnvp {

// Times are femtoseconds of the platform's clock (Clock::now_fs); they may lie in the future.
class Activity {
 public:
  virtual ~Activity() = default;
  // `amount` counts were done evenly over the interval. A counter reports all of its counts or none.
  virtual void done(const Counter& counter, double amount, std::uint64_t from_fs, std::uint64_t to_fs) = 0;
  // Future counts of the counter will be reported later.
  virtual void will_tell(const Counter& counter) = 0;
  // Accesses to L0 of a descriptor that the engine executed in the interval.
  virtual void accessed_l0(const Module& engine, double read_words, double write_words, std::uint64_t from_fs,
                           std::uint64_t to_fs) = 0;
};

// nullptr: not recorded.
inline Activity* activity_of(const Context& context) {
  return context.command_trace == nullptr ? nullptr : context.command_trace->activity;
}

}  // namespace attnvp
