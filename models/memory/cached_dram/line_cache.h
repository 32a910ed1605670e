// Tags of a set-associative cache with LRU replacement. Each line has a bit per sector, which the user of the line
// maintains.
#pragma once

#include <cstdint>
#include <list>
#include <unordered_map>
#include <vector>

namespace attnvp {

class LineCache {
 public:
  // ways 0: fully associative.
  LineCache(std::uint64_t lines, std::uint64_t ways)
      : ways_(ways == 0 || ways > lines ? lines : ways), sets_(lines / ways_) {}

  struct Line {
    std::list<std::uint64_t>::iterator place;
    std::uint64_t present = 0, coming = 0, dirty = 0;  // sectors; those in `coming` arrive
    std::uint64_t ready = 0;                           // in this cycle
  };
  struct Touch {
    Line* line = nullptr;
    bool hit = false;
    bool evicted = false;          // a line was evicted,
    std::uint64_t wrote_back = 0;  // and these of its sectors were dirty
  };
  // Makes the line present and most recently used.
  Touch touch(std::uint64_t line);
  void clear();

 private:
  std::uint64_t ways_;
  std::vector<std::list<std::uint64_t>> sets_;  // lines of each set, most recently used first
  std::unordered_map<std::uint64_t, Line> lines_;
};

}  // namespace attnvp
