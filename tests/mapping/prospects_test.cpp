// Which schedule is looked at next, by hand.
#include "mapping/prospects.h"

#include <gtest/gtest.h>

namespace attnvp::mapping {
namespace {

TEST(Prospects, ComeLikeliestFirstAndEqualsInOrder) {
  Prospects from({{3, {1, 1}}, {1, {1, 2}}, {3, {2, 1}}, {2, {2, 2}}});
  const Words order[] = {{1, 2}, {2, 2}, {1, 1}, {2, 1}};
  for (const Words& words : order) {
    const Prospect* p = from.next();
    ASSERT_NE(p, nullptr);
    EXPECT_EQ(p->words, words);
    EXPECT_EQ(p->expected, p->merit);
    EXPECT_EQ(p->distance, 0U);
  }
  EXPECT_EQ(from.next(), nullptr);
}

// Half as much again turns out for the first: that for one word of difference, half of that for two, a third for three.
TEST(Prospects, ExpectOfWhatIsNearWhatWasFound) {
  Prospects from({{100, {1, 1, 1}}, {110, {1, 1, 2}}, {120, {1, 2, 2}}, {130, {2, 2, 2}}});
  ASSERT_NE(from.next(), nullptr);
  from.learn(150);
  const Prospect* p = from.next();
  EXPECT_EQ(p->words, (Words{1, 2, 2}));
  EXPECT_DOUBLE_EQ(p->expected, 150);
  EXPECT_EQ(p->distance, 2U);
  // As promised: so are those that are nearer to this one than to the first, but not those that are as near to both.
  from.learn(120);
  p = from.next();
  EXPECT_EQ(p->words, (Words{2, 2, 2}));
  EXPECT_DOUBLE_EQ(p->expected, 130);
  EXPECT_EQ(p->distance, 1U);
  p = from.next();
  EXPECT_EQ(p->words, (Words{1, 1, 2}));
  EXPECT_DOUBLE_EQ(p->expected, 165);
  EXPECT_EQ(p->distance, 1U);
  EXPECT_EQ(from.next(), nullptr);
}

// Better than was promised is expected of others, too.
TEST(Prospects, ExpectMoreOfWhatIsNearAGoodOne) {
  Prospects from({{100, {1, 1}}, {105, {2, 2}}, {110, {1, 2}}});
  ASSERT_NE(from.next(), nullptr);
  from.learn(80);
  const Prospect* p = from.next();
  EXPECT_EQ(p->words, (Words{1, 2}));
  EXPECT_DOUBLE_EQ(p->expected, 88);
}

}  // namespace
}  // namespace attnvp::mapping
