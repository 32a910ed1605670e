// Command trace: the life of every descriptor, for timelines, and the descriptors that signalled its events. Modules
// write into it while it is attached to their Context.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "firmware/hal/descriptor.h"

namespace attnvp {

class Activity;

class CommandTrace {
 public:
  using Id = std::uint64_t;
  static constexpr Id kNone = 0;  // the control processor, or not traced

  struct Entry {  // times in cycles of the platform clock; kNever: not reached
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
  Entry& of(Id id) { return entries_[id - 1]; }

  // Tokens are taken in the order in which they were given.
  void signalled(std::uint64_t event, std::uint32_t tokens, Id giver, std::uint64_t now) {
    tokens_[event].push_back({giver, tokens, now});
  }
  void took(std::uint64_t event, std::uint32_t tokens, Id taker, std::uint64_t now);

  Activity* activity = nullptr;  // receives intervals of counted work (activity.h); nullptr: not recorded

  const std::vector<Entry>& entries() const { return entries_; }
  const std::vector<Arrow>& arrows() const { return arrows_; }

 private:
  struct Given {
    Id giver;
    std::uint32_t tokens;
    std::uint64_t cycle;
  };
  std::vector<Entry> entries_;
  std::vector<Arrow> arrows_;
  std::map<std::uint64_t, std::deque<Given>> tokens_;  // by event, not yet taken
};

}  // namespace attnvp
