// The life of every descriptor, for timelines: when an engine took it, when its events were there, when it ran; and
// who gave the tokens that it waited for. Modules write into it while one is attached to their Context.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "firmware/hal/descriptor.h"

namespace attnvp {

class Activity;

class Journal {
 public:
  using Id = std::uint64_t;
  static constexpr Id kNobody = 0;  // the control processor, or nobody asked

  struct Entry {  // times in cycles of the platform clock; kNever where it did not come to it
    std::string track;
    hal::Descriptor descriptor{};
    std::uint64_t fetched = 0;     // taken up: from here on it waits for its events
    std::uint64_t ready = kNever;  // has taken them
    std::uint64_t start = kNever;  // computes, or transfers
    std::uint64_t end = kNever;    // no longer does
    std::uint64_t done = kNever;   // result in memory, events given
  };
  static constexpr std::uint64_t kNever = UINT64_MAX;

  // A token went from one descriptor to another.
  struct Arrow {
    Id from, to;
    std::uint64_t event;  // its register's address
    std::uint64_t given, taken;
  };

  Id open(const std::string& track, const hal::Descriptor& descriptor, std::uint64_t now) {
    entries_.push_back({track, descriptor, now});
    return entries_.size();
  }
  Entry& of(Id id) { return entries_[id - 1]; }

  // Tokens are taken in the order in which they were given.
  void gave(std::uint64_t event, std::uint32_t tokens, Id giver, std::uint64_t now) {
    tokens_[event].push_back({giver, tokens, now});
  }
  void took(std::uint64_t event, std::uint32_t tokens, Id taker, std::uint64_t now);

  Activity* activity = nullptr;  // told when what counters count was done (activity.h); nullptr: nobody asks

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
  std::map<std::uint64_t, std::deque<Given>> tokens_;  // per event, not yet taken
};

}  // namespace attnvp
