#include "tests/models/bench.h"

namespace attnvp::bench {
namespace {

TEST(EventUnit, CountsTokens) {
  Bench bench;
  bench.run([](Bench& b) {
    EXPECT_EQ(b.count(5), 0U);
    b.give(5, 3);
    EXPECT_EQ(b.count(5), 3U);
    EXPECT_EQ(b.count(6), 0U);
    b.take(5, 2);
    EXPECT_EQ(b.count(5), 1U);
    b.take(5, 0);
    EXPECT_EQ(b.count(5), 1U);
    EXPECT_EQ(b.now(), 8U);  // nothing but the eight bus accesses
  });
  EXPECT_EQ(bench.cluster().events->value("signals"), 3U);
  EXPECT_EQ(bench.cluster().events->value("takes"), 2U);
}

TEST(EventUnit, TakeBlocksUntilAllTokensAreThere) {
  // One token per copy of 64 B: 100 of latency, 8 on the bus, 1 at the port. Doorbells at 17 and 34.
  Bench bench;
  bench.run([](Bench& b) {
    b.push(channel(0), then(copy(64, kDram, kL1), 7));
    b.push(channel(0), then(copy(64, kDram, kL1), 7));
    b.take(7, 2);
    EXPECT_EQ(b.now(), 2 * kPush + 109);
    EXPECT_EQ(b.count(7), 0U);
  });
}

TEST(EventUnit, NothingIsTakenWhileTokensAreMissing) {
  // The VEC engine waits for 2 tokens of an event with 1; the processor takes that one and gives 2.
  Bench bench;
  bench.run([](Bench& b) {
    b.push(kVec, then(after(nop(), 0, 2), 1));
    b.give(0, 1);
    EXPECT_EQ(b.count(0), 1U);
    EXPECT_EQ(b.count(1), 0U);
    b.take(0, 1);
    b.give(0, 2);
    b.take(1);
    EXPECT_EQ(b.count(0), 0U);
  });
}

TEST(EventUnit, SpansTakeFromAndGiveToEveryEvent) {
  Bench bench;
  bench.run([](Bench& b) {
    b.push(kMac, then(after(nop(), 10, 2, 3), 20, 5, 2));
    b.give(10, 2);
    b.give(12, 2);
    EXPECT_EQ(b.count(20), 0U);  // event 11 has none yet
    b.give(11, 3);
    b.take(20, 5);
    b.take(21, 5);
    EXPECT_EQ(b.count(11), 1U);
    EXPECT_EQ(b.count(22), 0U);
  });
}

TEST(EventUnit, FourWaitsAndFourSignals) {
  Bench bench;
  bench.run([](Bench& b) {
    hal::Descriptor d = nop();
    for (std::uint32_t i = 0; i < 4; ++i) d = then(after(d, i), 100 + i, 1 + i);
    b.push(kMac, d);
    for (std::uint32_t i = 0; i < 4; ++i) {
      EXPECT_EQ(b.count(100), 0U);
      b.give(3 - i);
    }
    for (std::uint32_t i = 0; i < 4; ++i) {
      b.take(100 + i, 1 + i);
      EXPECT_EQ(b.count(100 + i), 0U);
    }
  });
}

TEST(EventUnit, TheLastEventExistsTheNextDoesNot) {
  Bench bench;
  bench.run([](Bench& b) {
    EXPECT_TRUE(b.give(255));
    EXPECT_FALSE(b.give(256));
  });
}

TEST(EventUnit, RefusesOtherSizesAndDirections) {
  Bench bench;
  bench.run([](Bench& b) {
    std::uint64_t wide = 1;
    std::uint32_t word = 1;
    EXPECT_FALSE(hal::write(b.cpu(), event_register(0, hal::kEventSignal), &wide, 8));
    EXPECT_FALSE(hal::read(b.cpu(), event_register(0, hal::kEventSignal), &word, 4));
    EXPECT_FALSE(hal::read(b.cpu(), event_register(0, hal::kEventTake), &word, 4));
    EXPECT_FALSE(hal::write(b.cpu(), event_register(0, hal::kEventCount), &word, 4));
    EXPECT_FALSE(hal::write(b.cpu(), event_register(0, 0xC), &word, 4));
    EXPECT_EQ(b.count(0), 0U);
    EXPECT_EQ(b.read<std::uint32_t>(hal::events_base(0) + hal::kEventsFault), 0U);
  });
}

TEST(EventUnit, AnotherRunBeginsWithoutTokens) {
  Bench bench;
  bench.run([](Bench& b) { b.give(9, 4); });
  bench.run([](Bench& b) { EXPECT_EQ(b.count(9), 0U); });
}

}  // namespace
}  // namespace attnvp::bench
