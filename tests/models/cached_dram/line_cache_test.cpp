// Lines of the cache against a reference that keeps, for every line, when it was used last.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "models/memory/cached_dram/cached_dram.h"

namespace attnvp {
namespace {

class Reference {
 public:
  Reference(std::uint64_t lines, std::uint64_t ways) : ways_(ways == 0 ? lines : ways), sets_(lines / ways_) {}
  struct Outcome {
    bool hit = false, evicted = false, wrote_back = false;
  };
  Outcome use(std::uint64_t line, bool write) {
    Outcome outcome;
    ++now_;
    outcome.hit = used_.count(line) > 0;
    if (!outcome.hit) {
      std::uint64_t in_set = 0, oldest = 0, when = UINT64_MAX;
      for (const auto& [other, use] : used_) {
        if (other % sets_ != line % sets_) continue;
        ++in_set;
        if (use.when < when) {
          when = use.when;
          oldest = other;
        }
      }
      if (in_set == ways_) {
        outcome.evicted = true;
        outcome.wrote_back = used_.at(oldest).dirty;
        used_.erase(oldest);
      }
    }
    used_[line].when = now_;
    used_[line].dirty = used_[line].dirty || write;
    return outcome;
  }

 private:
  struct Use {
    std::uint64_t when = 0;
    bool dirty = false;
  };
  std::uint64_t ways_, sets_, now_ = 0;
  std::map<std::uint64_t, Use> used_;
};

TEST(LineCache, AThousandRandomTraces) {
  std::mt19937 random(5);
  for (int trace = 0; trace < 1000; ++trace) {
    const std::uint64_t sets = 1ULL << random() % 4, ways = 1 + random() % 6;
    const std::uint64_t lines = sets * ways, all = random() % 4 == 0 ? 0 : ways;
    LineCache cache(lines, all);
    Reference reference(lines, all);
    const std::uint64_t range = 1 + lines * (1 + random() % 3);
    std::uint64_t at = 0;
    for (int i = 0; i < 300; ++i) {
      at = random() % 3 == 0 ? random() % range : (at + 1) % range;
      const bool write = random() % 3 == 0;
      const LineCache::LineTouch touch = cache.touch(at);
      touch.line->dirty |= write ? 1 : 0;
      const Reference::Outcome expected = reference.use(at, write);
      ASSERT_EQ(touch.hit, expected.hit) << "trace " << trace << " access " << i;
      ASSERT_EQ(touch.evicted, expected.evicted) << "trace " << trace << " access " << i;
      ASSERT_EQ(touch.wrote_back != 0, expected.wrote_back) << "trace " << trace << " access " << i;
    }
  }
}

}  // namespace
}  // namespace attnvp
