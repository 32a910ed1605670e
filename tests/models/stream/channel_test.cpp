// The channel alone: when slots are free, when elements arrive, and how many are in flight.
#include "models/streaming/channel.h"

#include <gtest/gtest.h>

#include <optional>

namespace attnvp::stream {
namespace {

class ChannelTest : public testing::Test {
 protected:
  ChannelTest() { sc_core::sc_set_time_resolution(1, sc_core::SC_FS); }

  ~ChannelTest() override {
    channel_.reset();
    context_.reset();
    sc_core::sc_get_curr_simcontext()->reset();
  }

  Channel& make(std::uint64_t depth, std::uint32_t width = 1, std::uint32_t tokens = 0) {
    ChannelSpec spec;
    spec.name = "channel";
    spec.depth = depth;
    spec.width = width;
    spec.tokens = tokens;
    spec.initial = 0.5F;
    channel_ = std::make_unique<Channel>("channel", *context_, spec);
    return *channel_;
  }
  static void push(Channel& channel, std::uint64_t cycle, std::uint64_t due, float value = 0) {
    channel.push(cycle, due, &value);
  }

  std::optional<Context> context_{std::in_place, 1e9, true};
  std::unique_ptr<Channel> channel_;
};

TEST_F(ChannelTest, AnElementArrivesWhenItIsDueButAfterItWasSent) {
  Channel& c = make(8);
  push(c, 10, 15);
  push(c, 20, 15);
  push(c, 21, 21);
  for (const std::uint64_t arrival : {15, 21, 22}) {
    ASSERT_TRUE(c.has_data());
    EXPECT_EQ(c.arrival(), arrival);
    c.pop(arrival);
  }
  EXPECT_FALSE(c.has_data());
}

TEST_F(ChannelTest, ASlotIsFreeOneCycleAfterItsElementWasTaken) {
  Channel& c = make(2);
  push(c, 1, 2);
  EXPECT_TRUE(c.has_room());
  EXPECT_EQ(c.room_cycle(), 0U);
  push(c, 2, 3);
  EXPECT_FALSE(c.has_room());
  c.pop(7);
  ASSERT_TRUE(c.has_room());
  EXPECT_EQ(c.room_cycle(), 8U);
  push(c, 8, 9);
  c.pop(20);
  c.pop(30);
  EXPECT_EQ(c.room_cycle(), 21U);  // the second element's slot, not the third's
}

TEST_F(ChannelTest, ValuesComeOutInOrder) {
  Channel& c = make(3, 2);
  for (int i = 0; i < 10; ++i) {
    const float value[] = {static_cast<float>(i), static_cast<float>(-i)};
    c.push(static_cast<std::uint64_t>(i), 0, value);
    EXPECT_EQ(c.value()[0], static_cast<float>(i));
    EXPECT_EQ(c.value()[1], static_cast<float>(-i));
    c.pop(static_cast<std::uint64_t>(i) + 1);
  }
}

// Three in flight at cycle 3, whichever end is simulated first.
TEST_F(ChannelTest, ThePeakDoesNotDependOnWhoRunsAhead) {
  for (const bool writer_ahead : {false, true}) {
    Channel& c = make(kUnbounded);
    push(c, 1, 2);
    push(c, 2, 3);
    if (!writer_ahead) c.pop(3);  // free at 4
    push(c, 3, 4);
    if (writer_ahead) c.pop(3);
    if (!writer_ahead) c.pop(5);  // free at 6
    push(c, 6, 7);                // the first two are gone
    if (writer_ahead) c.pop(5);
    c.pop(8);
    c.pop(9);
    c.count();
    EXPECT_EQ(c.peak.value(), 3U) << writer_ahead;
    EXPECT_EQ(c.transfers.value(), 4U);
    channel_.reset();
  }
}

TEST_F(ChannelTest, ElementsThatNobodyTakesCountForThePeak) {
  Channel& c = make(5);
  for (std::uint64_t i = 0; i < 4; ++i) push(c, i, i + 1);
  c.count();
  EXPECT_EQ(c.peak.value(), 4U);
  EXPECT_EQ(c.transfers.value(), 0U);
  EXPECT_EQ(c.writes.value(), 8U);  // 16-bit words
}

TEST_F(ChannelTest, TokensAreThereFromTheStart) {
  Channel& c = make(3, 1, 2);
  EXPECT_EQ(c.arrival(), 0U);
  EXPECT_EQ(*c.value(), 0.5F);
  push(c, 0, 1);
  EXPECT_FALSE(c.has_room());
  c.reset();
  EXPECT_TRUE(c.has_room());
  EXPECT_TRUE(c.has_data());
}

// More elements than the host's window holds at first, and than its times' queues.
TEST_F(ChannelTest, GrowsWithWhatIsInFlight) {
  Channel& c = make(kUnbounded);
  sc_core::sc_event wake;
  c.connect_writer(wake);
  std::uint64_t sent = 0;
  for (int round = 0; round < 3; ++round) {
    for (; c.has_room(); ++sent) push(c, sent, 0, static_cast<float>(sent));
    EXPECT_FALSE(c.grow_window());  // nobody waits
    c.wait_for_room();
    EXPECT_TRUE(c.grow_window());
  }
  EXPECT_GT(sent, 4000U);
  for (std::uint64_t i = 0; i < sent; ++i) {
    ASSERT_EQ(*c.value(), static_cast<float>(i));
    c.pop(2 * i + 1);
  }
  // When element i is sent, elements with 2 j + 2 <= i are gone.
  c.count();
  EXPECT_EQ(c.peak.value(), sent - (sent - 1) / 2);
}

TEST_F(ChannelTest, ABoundedChannelDoesNotGrowBeyondItsDepth) {
  Channel& c = make(3);
  for (std::uint64_t i = 0; i < 3; ++i) push(c, i, i);
  c.wait_for_room();
  EXPECT_FALSE(c.grow_window());
  EXPECT_FALSE(c.has_room());
  EXPECT_EQ(c.size_bytes(), 12U);
}

}  // namespace
}  // namespace attnvp::stream
