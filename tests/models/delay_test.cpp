// Time that a target takes passes, whether it annotates it or lets the initiator wait, and whoever that is. By hand: a
// descriptor is 16 cycles on the control bus and its doorbell 1; an L1 port takes 64 B/cycle, DRAM 8 B/cycle after 100
// cycles.
#include "tests/models/bench.h"
#include "tests/models/late.h"

namespace attnvp::bench {
namespace {

constexpr std::uint64_t kLate = kLateMemoryCycles;

// How targets take their time: "late" or "waiting" (late.h).
class Delay : public testing::TestWithParam<const char*> {};

MachineConfig late_interconnect(std::uint32_t before_cycles, std::uint32_t after_cycles) {
  MachineConfig m = machine();
  m.interconnect.kind = Delay::GetParam();
  m.own<LateConfig>() = {before_cycles, after_cycles};
  return m;
}

std::uint64_t cycles_of_matmul(const MachineConfig& m) {
  Bench bench(m);
  return cycles_of(bench, kMac, matmul(16, 16, 16, {16, 16, 16}, kL1, kL1 + 4096, kL1 + 8192));
}
// Operands 16, array 16, its skew 30, result 8.
constexpr std::uint64_t kMatmul = kPush + 16 + 16 + 30 + 8;

TEST_P(Delay, OfL1InEveryStageOfAnEngine) {
  MachineConfig m = machine();
  EXPECT_EQ(cycles_of_matmul(m), kMatmul);
  m.l1.kind = GetParam();  // once for fill, body and drain; while the last sub-tile computes nothing crosses
  EXPECT_EQ(cycles_of_matmul(m), kMatmul + 3 * kLate);
}

TEST_P(Delay, OfL0WhenADescriptorIsPrepared) {
  MachineConfig m = machine();
  m.l0.kind = GetParam();
  EXPECT_EQ(cycles_of_matmul(m), kMatmul + kLate);
}

TEST_P(Delay, OfL1InADmaTransfer) {
  MachineConfig m = machine();
  m.l1.kind = GetParam();
  {
    Bench bench(m);
    EXPECT_EQ(cycles_of(bench, channel(0), copy(1024, kDram, kL1)), kPush + 100 + 128 + 16 + kLate);
  }
  {
    Bench bench(m);
    EXPECT_EQ(cycles_of(bench, channel(0), copy(1024, kL1, kDram)), kPush + 16 + kLate + 128);
  }
}

// An engine signals four events, one after the other, and the processor takes the last one.
std::uint64_t cycles_of_four_signals(const MachineConfig& m) {
  Bench bench(m);
  return bench.run([](Bench& b) {
    b.push(kVec, then(nop(), 0, 1, 4));
    b.take(3);
  });
}

TEST_P(Delay, OfTheInterconnectOnTheWayBackFromAnEvent) {
  EXPECT_EQ(cycles_of_four_signals(machine()), kPush + 1);
  // The descriptor takes 16 and 5 back; the doorbell rings at 22; a signal is 5 later than the one before, so that the
  // fourth is at 22 + 3 x 5 = 37; the processor waits for it and 5 back.
  EXPECT_EQ(cycles_of_four_signals(late_interconnect(0, 5)), 22U + 3 * 5 + 5);
}

TEST_P(Delay, OfTheInterconnectOnTheWayToAnEvent) {
  // 16 and 5; the doorbell rings 1 and 5 later, at 27; signals arrive at 32, 37, 42, 47.
  EXPECT_EQ(cycles_of_four_signals(late_interconnect(5, 0)), 27U + 4 * 5);
}

TEST_P(Delay, OfTheInterconnectWhenAnEngineTakesEvents) {
  Bench bench(late_interconnect(0, 5));
  bench.run([](Bench& b) {
    for (std::uint32_t event = 0; event < 4; ++event) b.give(event);  // 1 and 5 each
    EXPECT_EQ(b.now(), 24U);
    b.push(kVec, then(after(nop(), 0, 1, 4), 8));
    EXPECT_EQ(b.now(), 24U + 16 + 5 + 1 + 5);
    b.take(8);
    // The doorbell rang at 46, each of four takes is 5.
    EXPECT_EQ(b.now(), 46U + 4 * 5 + 5);
  });
}

TEST_P(Delay, OfTheInterconnectInADmaTransfer) {
  // Doorbell at 22; data 100 + 128 + 5 later; 16 at L1's port; the processor's own 5.
  Bench bench(late_interconnect(0, 5));
  EXPECT_EQ(cycles_of(bench, channel(0), copy(1024, kDram, kL1)), 22U + 100 + 128 + 5 + 16 + 5);
}

TEST_P(Delay, OfTheInterconnectInAWriteToDram) {
  Bench bench(late_interconnect(0, 5));
  EXPECT_EQ(cycles_of(bench, channel(0), copy(1024, kL1, kDram)), 22U + 16 + 128 + 5 + 5);
}

TEST_P(Delay, OfTheInterconnectWithinDram) {  // a read and a write, each with its own
  Bench bench(late_interconnect(0, 5));
  EXPECT_EQ(cycles_of(bench, channel(0), copy(1024, kDram, kDram + 4096)), 22U + 100 + 128 + 5 + 128 + 5 + 5);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Delay, testing::Values("late", "waiting"));

// A processor that waits by itself finds the same times as one that goes on with the platform's.
TEST(WaitingProcessor, TakesTheSameCycles) {
  const auto program = [](Bench& b) {
    b.push(channel(0), then(copy(4096, kDram, kL1), 1));
    b.push(kMac, then(after(matmul(16, 16, 16, {16, 16, 16}, kL1, kL1 + 512, kL1 + 8192), 1), 2));
    b.push(channel(1), then(after(copy(512, kL1 + 8192, kDram + 8192), 2), 3));
    b.take(3);
    EXPECT_EQ(b.read<std::uint32_t>(kMac + hal::kQueueDone), 1U);
    b.push(kVec, then(softmax(16, 64, kL1, kL1 + 4096), 4));
    b.take(4);
    b.read<std::uint64_t>(kL1 + 4096);
  };
  MachineConfig m = machine();
  std::uint64_t cycles[2] = {};
  for (const bool waiting : {false, true}) {
    m.control.cpu = waiting ? "waiting" : "native";
    Bench bench(m);
    cycles[waiting ? 1 : 0] = bench.run(program);
  }
  EXPECT_EQ(cycles[0], cycles[1]);
}

}  // namespace
}  // namespace attnvp::bench
