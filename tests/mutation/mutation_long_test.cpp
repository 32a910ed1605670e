// The table of docs/checker.md.
#include <gtest/gtest.h>

#include "tests/mutation/campaign.h"

namespace attnvp {
namespace {

TEST(MutationLong, WhatIsNotFoundIsHarmless) {
  const mutation::Tally all = mutation::campaign(10000, 100);
  EXPECT_EQ(all.missed, 0U) << all.examples;
  EXPECT_GE(all.mutants, 9000U);
}

}  // namespace
}  // namespace attnvp
