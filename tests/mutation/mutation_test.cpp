#include <gtest/gtest.h>

#include "tests/mutation/campaign.h"

namespace attnvp {
namespace {

TEST(Mutation, WhatIsNotFoundIsHarmless) {
  const mutation::Tally all = mutation::campaign(720, 4);
  EXPECT_EQ(all.missed, 0U) << all.examples;
  EXPECT_GE(all.mutants, 650U);
  EXPECT_GE(all.found * 10, all.mutants * 6);
  EXPECT_GT(all.harmless, 0U);
}

}  // namespace
}  // namespace attnvp
