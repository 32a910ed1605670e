// Contents of memory in program order: the latest accesses of each byte, the keys that columns of scores belong to, and
// uninitialised rows.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "platform/schedule/check/trace.h"

namespace attnvp::schedule::check {

// Shadow memory: the latest writes and reads of every part of the address space, as regions of rows.

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

// Tracker of the keys (rows of K) that columns of scores and probabilities belong to. Probabilities must be multiplied
// with the rows of V of the same keys.
class KeyTracker {
 public:
  using TensorRow = std::optional<std::uint64_t>;  // row of a tensor, over all heads; none: another tensor, or unknown
  // Follows a command of a line, in a possible order of commands. The first row of its second operand is row of_k of K
  // or of_v of V. Returns an error or an empty string; unknown values are not checked.
  std::string follow(LineId line, const hal::Descriptor& command, TensorRow of_k, TensorRow of_v);

 private:
  struct KeyColumns {
    Region region;
    std::uint64_t key;  // of the first column
    std::uint32_t element_bytes;
  };
  void add(const KeyColumns& columns);
  void forget(const Region& region);
  void forget(const hal::Descriptor& command, int operand);
  void transfer(const hal::Descriptor& command);  // from its first operand to its second one
  TensorRow at(std::uint64_t address) const;
  template <typename Visit>
  void each_in(const Region& region, const Visit& visit) const;

  std::multimap<std::uint64_t, KeyColumns> columns_;                    // by address
  std::uint64_t longest_ = 0;                                           // longest region
  std::map<std::pair<LineId, std::uint32_t>, std::uint64_t> resident_;  // tiles in an array's registers
};

// Uninitialised rows of a command's result, and the command that caused them.
struct BlankRows {
  std::vector<bool> row;
  LineId line = kNone;  // command that read unwritten memory
  std::uint32_t step = 0;

  bool any() const { return line != kNone; }
  bool all() const;
  void add(std::uint64_t rows, std::uint64_t first, std::uint64_t end, LineId by, std::uint32_t at);
};

// Tracker of uninitialised rows derived from memory that was never written. An array computes whole tiles; invalid rows
// behind the last valid row are harmless unless they are stored. Rows of A become rows of C; VEC works row by row.
class Blanks {
 public:
  // Adds the uninitialised rows of `region` as rows of a result.
  void find(const Region& region, BlankRows& rows) const;
  // Records that a command writes the region and which of its rows are uninitialised.
  void write(const Region& region, const BlankRows& rows);

 private:
  struct BlankBytes {
    std::uint64_t end;
    LineId line;
    std::uint32_t step;
  };
  void cut(std::uint64_t low, std::uint64_t high);
  std::map<std::uint64_t, BlankBytes> blank_;  // by start address; disjoint
};

}  // namespace attnvp::schedule::check
