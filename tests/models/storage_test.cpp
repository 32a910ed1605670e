// What memories take of the host, and where the host's limit is.
#include <gtest/gtest.h>

#include "models/memory/storage/host_memory.h"
#include "models/memory/storage/paged_memory.h"
#include "models/sim/module.h"

namespace attnvp {
namespace {

TEST(PagedMemory, IsZeroUntilTouchedAndAfterClear) {
  PagedMemory memory(std::uint64_t{1} << 40);  // more than any host has
  EXPECT_EQ(memory.size(), std::uint64_t{1} << 40);
  EXPECT_EQ(memory.data()[(std::uint64_t{1} << 40) - 1], 0);
  memory.data()[12345] = 7;
  EXPECT_EQ(memory.data()[12345], 7);
  memory.clear();
  EXPECT_EQ(memory.data()[12345], 0);
  EXPECT_TRUE(PagedMemory(0).empty());
}

TEST(HostMemory, IsSharedUpToTheLimitAndGivenBack) {
  EXPECT_GT(host_memory::available_bytes(), 1U << 20);
  host_memory::set_limit(1000);
  {
    host_memory::MemoryShare one("one", 600), other("other");
    EXPECT_TRUE(other.raise_to(400));
    EXPECT_FALSE(other.raise_to(401));
    EXPECT_TRUE(other.raise_to(100));  // it has more
    try {
      const host_memory::MemoryShare third("a third", 5'000'000);
      ADD_FAILURE() << "it was given 5 MB of 1 kB";
    } catch (const host_memory::Exceeded& e) {
      EXPECT_STREQ(e.what(),
                   "a third would need 5 MB of the host's memory, 1 kB are taken; allowed are 1 kB together "
                   "(--memory-limit)");
    }
  }
  EXPECT_TRUE(host_memory::take(1000));
  EXPECT_FALSE(host_memory::take(1));
  host_memory::give_back(1000);
}

TEST(Clock, SaysWhenTimeHasRunOut) {
  sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
  const Context context{1e6, false};  // 1e9 fs
  const Clock& clock = context.clock;
  bool& ran_out = context.event_queue.time_has_run_out;
  EXPECT_EQ(clock.cycles(3).value(), 3'000'000'000U);
  EXPECT_EQ(clock.most_cycles(), 18'446'744'073U);
  EXPECT_EQ(clock.cycles(clock.most_cycles()).value(), 18'446'744'073'000'000'000U);
  EXPECT_FALSE(ran_out);
  EXPECT_EQ(clock.cycles(clock.most_cycles() + 1).value(), UINT64_MAX);
  EXPECT_TRUE(ran_out);
  ran_out = false;
  EXPECT_EQ(clock.cycles(UINT64_MAX).value(), UINT64_MAX);
  EXPECT_TRUE(ran_out);
}

}  // namespace
}  // namespace attnvp
