// Command trace: the life of every descriptor, for timelines, the descriptors that signalled its events, and the
// intervals of counted work. Modules write into it while it is attached to their Context.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "firmware/hal/descriptor.h"
#include "models/sim/module.h"

namespace attnvp {

class Activity;

class CommandTrace {
 public:
  using Id = std::uint64_t;
  static constexpr Id kNone = 0;  // the control processor, or not traced

  struct TracedCommand {  // times in cycles of the platform clock; kNever: not reached
    std::string track;
    hal::Descriptor descriptor{};
    std::uint64_t fetched = 0;     // taken from the queue; waits for its events
    std::uint64_t ready = kNever;  // has its events
    std::uint64_t start = kNever;  // starts to compute or transfer
    std::uint64_t end = kNever;    // ends to compute or transfer
    std::uint64_t done = kNever;   // result in memory, events signalled
  };
  static constexpr std::uint64_t kNever = UINT64_MAX;

  // Token that one descriptor gave and another took.
  struct Arrow {
    Id from, to;
    std::uint64_t event;  // address of its register
    std::uint64_t given, taken;
  };

  Id open(const std::string& track, const hal::Descriptor& descriptor, std::uint64_t now) {
    entries_.push_back({track, descriptor, now});
    return entries_.size();
  }
  TracedCommand& of(Id id) { return entries_[id - 1]; }

  // Tokens are taken in the order in which they were given.
  void signalled(std::uint64_t event, std::uint32_t tokens, Id giver, std::uint64_t now) {
    tokens_[event].push_back({giver, tokens, now});
  }
  void took(std::uint64_t event, std::uint32_t tokens, Id taker, std::uint64_t now);

  Activity* activity = nullptr;  // receives intervals of counted work; nullptr: not recorded

  const std::vector<TracedCommand>& entries() const { return entries_; }
  const std::vector<Arrow>& arrows() const { return arrows_; }

 private:
  struct GivenTokens {
    Id giver;
    std::uint32_t tokens;
    std::uint64_t cycle;
  };
  std::vector<TracedCommand> entries_;
  std::vector<Arrow> arrows_;
  std::map<std::uint64_t, std::deque<GivenTokens>> tokens_;  // by event, not yet taken
};

// Intervals of counted work, for power over time. A counter changes in one step, when the amount is known;
// power needs the interval. Modules report while a CommandTrace with an Activity is attached to their Context.
//
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
