// Which lines a cache holds: sets of ways, in each of which the line that was used longest ago leaves. What of a line
// is there is a bit for each of its sectors, which is for those who touch it to say.
#pragma once

#include <cstdint>
#include <list>
#include <unordered_map>
#include <vector>

namespace attnvp {

class LineCache {
 public:
  // ways 0: any line may be anywhere.
  LineCache(std::uint64_t lines, std::uint64_t ways)
      : ways_(ways == 0 || ways > lines ? lines : ways), sets_(lines / ways_) {}

  struct Line {
    std::list<std::uint64_t>::iterator place;
    std::uint64_t present = 0, coming = 0, dirty = 0;  // sectors; those that come are there
    std::uint64_t ready = 0;                           //   in this cycle
  };
  struct Touch {
    Line* line = nullptr;
    bool hit = false;
    bool evicted = false;          // a line had to leave,
    std::uint64_t wrote_back = 0;  // of which these sectors were dirty
  };
  // The line is there now, used last.
  Touch touch(std::uint64_t line);
  void clear();

 private:
  std::uint64_t ways_;
  std::vector<std::list<std::uint64_t>> sets_;  // lines of each, the last used first
  std::unordered_map<std::uint64_t, Line> lines_;
};

}  // namespace attnvp
