// The paper's longest sequences: 16 million and a billion scores.
#include "tests/platform/stream/runs.h"

namespace attnvp::stream {
namespace {

TEST(StreamLong, NaiveAt4096) {
  const StreamResult result = run("naive", 4096);
  EXPECT_EQ(result.cycles, 33562676U);
  EXPECT_TRUE(result.golden.passed) << result.golden.to_string();
}

TEST(StreamLong, MemoryFreeAt32768) {
  const StreamResult result = run("memory-free", 32768);
  EXPECT_EQ(result.cycles, 2147483694U);
  EXPECT_EQ(peaks(result), peaks(run("memory-free", 64)));
  EXPECT_TRUE(result.golden.passed) << result.golden.to_string();
}

}  // namespace
}  // namespace attnvp::stream
