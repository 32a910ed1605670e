// Parts of a computation in several threads: each runs once, and the first failure by number comes back.
#include "platform/base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

namespace attnvp {
namespace {

TEST(Parallel, RunsEveryPartOnce) {
  for (const std::size_t parts : {0U, 1U, 2U, 1000U}) {
    std::vector<std::atomic<int>> times(parts);
    run_in_parallel(parts, [&](std::size_t i) { ++times[i]; });
    for (std::size_t i = 0; i < parts; ++i) EXPECT_EQ(times[i], 1) << i << " of " << parts;
  }
}

TEST(Parallel, RethrowsTheFirstFailureByNumberAfterAllParts) {
  std::atomic<int> ended{0};
  std::string message;
  try {
    run_in_parallel(64, [&](std::size_t i) {
      if (i % 8 == 5) throw std::runtime_error("part " + std::to_string(i));
      ++ended;
    });
  } catch (const std::runtime_error& failure) {
    message = failure.what();
  }
  EXPECT_EQ(message, "part 5");
  EXPECT_EQ(ended, 56);
}

}  // namespace
}  // namespace attnvp
