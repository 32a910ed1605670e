// Shadow memory: the latest writes and reads of every part of the address space, as regions of rows.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "platform/schedule/check/trace.h"

namespace attnvp::schedule::check {

// Exact for all strides.
bool share_a_byte(const Region& a, const Region& b);
bool contains(const Region& outer, const Region& inner);  // may return false for complex regions
Region simplified(Region region);                         // merges contiguous rows into one

struct Touch {
  Region region;  // simplified
  LineId line;
  std::uint32_t step;
  bool write;
  bool running = false;
};

struct Interval {
  std::uint64_t low = 0, high = 0;
  bool any() const { return low < high; }
};

class Shadow {
 public:
  void initialise(Interval bytes) { initial_.push_back(bytes); }  // by the host, before the run

  // First unwritten range of the region with at least `least` bytes.
  Interval unwritten(const Region& region, std::uint64_t least = 1) const;

  // Latest write that overlaps the region; nullptr: none.
  const Touch* latest_write(const Region& region) const;

  // Calls meet(earlier) for every overlapping access, unless both are reads, then records the access. If meet() returns
  // true, this access replaces the earlier ones within it: later accesses that follow it also follow them.
  template <typename Meet>
  void touch(const Touch& now, const Meet& meet) {
    std::vector<Touch>& here = block_of(now.region);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < here.size(); ++i) {
      const Touch before = here[i];
      bool over = false;
      const bool both_read = !before.write && !now.write;
      if (both_read) {
        over = before.line == now.line && contains(now.region, before.region);
      } else if (share_a_byte(before.region, now.region)) {
        over = meet(before) && now.write && contains(now.region, before.region);
      }
      if (!over) here[kept++] = before;
    }
    here.resize(kept);
    here.push_back(now);
  }
  // Removes all accesses to the range; passes each to leave().
  template <typename Leave>
  void forget(Interval bytes, const Leave& leave) {
    if (!bytes.any()) return;
    for (auto at = first_in(bytes); at != blocks_.end() && at->first < bytes.high; ++at) {
      std::vector<Touch>& here = at->second.touches;
      std::size_t kept = 0;
      for (const Touch& t : here) {
        const bool gone = t.region.address < bytes.high && bytes.low < t.region.end();
        if (gone) leave(t);
        if (!gone) here[kept++] = t;
      }
      here.resize(kept);
    }
  }

 private:
  struct ByteBlock {
    std::uint64_t end;
    std::vector<Touch> touches;
  };
  using Blocks = std::map<std::uint64_t, ByteBlock>;
  Blocks::iterator first_in(Interval bytes);
  std::vector<Touch>& block_of(const Region& region);  // merges the blocks that the region spans

  Blocks blocks_;  // by start address; disjoint
  std::vector<Interval> initial_;
};

}  // namespace attnvp::schedule::check
