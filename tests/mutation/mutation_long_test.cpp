// The mutants of docs/explanation/checking.md.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/mutation/campaign.h"

namespace attnvp {
namespace {

TEST(MutationLong, WhatIsNotFoundIsHarmless) {
  const char* only = std::getenv("ATTNVP_MUTATE");  // a dataflow, with options or without
  const char* seeds = std::getenv("ATTNVP_SEEDS");
  const std::uint64_t most = seeds != nullptr ? std::strtoull(seeds, nullptr, 10) : 100;
  const mutation::Tally all = mutation::campaign(10900, most, only != nullptr ? only : "");
  EXPECT_EQ(all.missed, 0U) << all.examples;
  if (only == nullptr) {
    EXPECT_GE(all.mutants, 10000U);
  }
}

}  // namespace
}  // namespace attnvp
