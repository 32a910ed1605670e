// When the work was done that counters count. A counter changes in one step, when its module learns the amount; power
// over time needs the interval. Modules tell while a journal with an Activity is attached to their Context.
#pragma once

#include <cstdint>

#include "models/module.h"
#include "models/trace/journal.h"

namespace attnvp {

// Times are femtoseconds of the platform's clock (Clock::now_fs). They may be to come.
class Activity {
 public:
  virtual ~Activity() = default;
  // `amount` of what the counter counts was done evenly over the interval. All of what the counter counts is told, or
  // none of it.
  virtual void done(const Counter& counter, double amount, std::uint64_t from_fs, std::uint64_t to_fs) = 0;
  // What the counter counts from now on is told later.
  virtual void will_tell(const Counter& counter) = 0;
  // The accesses to L0 of a descriptor that an engine executed then.
  virtual void accessed_l0(const Module& engine, double read_words, double write_words, std::uint64_t from_fs,
                           std::uint64_t to_fs) = 0;
};

// nullptr: nobody asks.
inline Activity* activity_of(const Context& context) {
  return context.journal == nullptr ? nullptr : context.journal->activity;
}

}  // namespace attnvp
