// Cycle counts by hand: DRAM gives 8 B/cycle after 100 cycles (reads only), L1's port takes 64 B/cycle,
// bursts are 1 KiB unless a case says otherwise: 128 cycles on DRAM's bus, 16 at L1's port.
#include <numeric>

#include "tests/models/bench.h"

namespace attnvp::bench {
namespace {

std::vector<std::uint16_t> numbers(std::size_t n) {
  std::vector<std::uint16_t> out(n);
  std::iota(out.begin(), out.end(), std::uint16_t{1});
  return out;
}

MachineConfig with_outstanding(std::uint32_t n, double latency_ns = 100) {
  MachineConfig m = machine();
  m.dma.outstanding = n;
  m.dram.latency_seconds = latency_ns * 1e-9;
  return m;
}

TEST(Dma, ReadOfFourBursts) {
  // All four requests go out at once: data from 100 on, 4 x 128 on the bus; the last burst crosses L1's
  // port: 16.
  Bench bench(with_outstanding(4));
  bench.set_dram(kDram, numbers(2048));
  EXPECT_EQ(cycles_of(bench, channel(0), copy(4096, kDram, kL1 + 64)), kPush + 100 + 4 * 128 + 16);
  EXPECT_EQ(bench.l1<std::uint16_t>(kL1 + 64, 2048), numbers(2048));
  EXPECT_EQ(bench.cluster().dma->value("bursts"), 4U);
  EXPECT_EQ(bench.cluster().dma->value("read_bytes"), 4096U);
  EXPECT_EQ(bench.platform().dram->value("busy_cycles"), 512U);
  EXPECT_EQ(bench.cluster().dma->value("busy_cycles"), 100U + 4 * 128 + 16);
}

TEST(Dma, OutstandingBurstsHideLatency) {
  // One at a time: four times latency, bus and port.
  {
    Bench bench(with_outstanding(1, 200));
    EXPECT_EQ(cycles_of(bench, channel(0), copy(4096, kDram, kL1)), kPush + 4 * (200 + 128 + 16));
  }
  // Two: the third request goes out when the first burst is in L1, at 200 + 128 + 16, its data 200 later.
  {
    Bench bench(with_outstanding(2, 200));
    EXPECT_EQ(cycles_of(bench, channel(0), copy(4096, kDram, kL1)), kPush + (200 + 128 + 16) + 200 + 2 * 128 + 16);
  }
  // Four: the latency shows once.
  {
    Bench bench(with_outstanding(4, 200));
    EXPECT_EQ(cycles_of(bench, channel(0), copy(4096, kDram, kL1)), kPush + 200 + 4 * 128 + 16);
  }
}

TEST(Dma, WriteOfFourBursts) {
  // The first burst is read from L1, 16, then DRAM's bus is busy for 4 x 128; the other reads hide behind it.
  Bench bench(with_outstanding(4));
  bench.run([&](Bench& b) {
    b.set_l1(kL1, numbers(2048));
    b.push(channel(1), then(copy(4096, kL1, kDram + 32), 0));
    b.take(0);
    EXPECT_EQ(b.now(), kPush + 16 + 4 * 128);
  });
  EXPECT_EQ(bench.dram<std::uint16_t>(kDram + 32, 2048), numbers(2048));
  EXPECT_EQ(bench.cluster().dma->value("write_bytes"), 4096U);
}

TEST(Dma, ResultsThatPassL1ByTakeNoTimeThere) {
  Bench bench(with_outstanding(4));
  bench.run([&](Bench& b) {
    b.set_l1(kL1, numbers(2048));
    hal::Descriptor store = then(copy(4096, kL1, kDram + 32), 0);
    store.flags |= hal::kForwarded;
    b.push(channel(1), store);
    b.take(0);
    EXPECT_EQ(b.now(), kPush + 4 * 128);
  });
  EXPECT_EQ(bench.dram<std::uint16_t>(kDram + 32, 2048), numbers(2048));
  EXPECT_EQ(bench.cluster().l1->value("read_words"), 0U);
}

TEST(Dma, StridedRowsAreBurstsOfTheirOwn) {
  // 8 rows of 64 B: 8 on the bus, 1 at the port. Four requests at once: data 100 + 8, 16, 24, 32. A row done
  // lets the next request go: rows 4 to 7 at 109, 117, 125, 133, their data 100 + 8 later; the last is in L1
  // at 242.
  Bench bench(with_outstanding(4));
  EXPECT_EQ(cycles_of(bench, channel(0), copy(64, 8, 1, {kDram, 256, 0}, {kL1, 64, 0})), kPush + 133 + 100 + 8 + 1);
  EXPECT_EQ(bench.cluster().dma->value("bursts"), 8U);
}

TEST(Dma, ShortBurstsCountForTheirBytesWhereItSaysSo) {
  const auto cycles = [](std::uint32_t outstanding, std::uint32_t burst) {
    MachineConfig m = with_outstanding(outstanding);
    m.dma.burst_bytes = burst;
    m.dma.counts = DmaCounts::kBytes;
    Bench bench(m);
    const std::uint64_t took = cycles_of(bench, channel(0), copy(64, 8, 1, {kDram, 256, 0}, {kL1, 64, 0}));
    EXPECT_EQ(bench.cluster().dma->value("bursts"), 8U);
    return took - kPush;
  };
  // Room for all eight at once, and for two: then two at 0, two each 109 later, the second of which is behind on the
  // bus.
  EXPECT_EQ(cycles(4, 1024), 100U + 8 * 8 + 1);
  EXPECT_EQ(cycles(1, 128), 3U * 109 + 8 + 109);
  // One of full length is as ever: each of 1 KiB takes all of the room.
  MachineConfig m = with_outstanding(1, 200);
  m.dma.counts = DmaCounts::kBytes;
  Bench bench(m);
  EXPECT_EQ(cycles_of(bench, channel(0), copy(4096, kDram, kL1)), kPush + 4 * (200 + 128 + 16));
}

// Every byte of a 3D copy lands where a triple loop puts it, and nothing else changes.
void check_bytes(bool to_l1, CopySide l1, CopySide dram, std::uint32_t row_bytes, std::uint32_t rows,
                 std::uint32_t planes) {
  Bench bench;
  constexpr std::size_t kBytes = 32 << 10;
  std::vector<unsigned char> source(kBytes), target(kBytes, 0xEE);
  for (std::size_t i = 0; i < kBytes; ++i) source[i] = static_cast<unsigned char>(i * 7 + i / 256);
  bench.run([&](Bench& b) {
    b.set_l1(kL1, to_l1 ? target : source);
    b.set_dram(kDram, to_l1 ? source : target);
    b.push(channel(0),
           then(to_l1 ? copy(row_bytes, rows, planes, dram, l1) : copy(row_bytes, rows, planes, l1, dram), 0));
    b.take(0);
  });
  const CopySide &from = to_l1 ? dram : l1, &to = to_l1 ? l1 : dram;
  const std::uint64_t from_base = to_l1 ? kDram : kL1, to_base = to_l1 ? kL1 : kDram;
  for (std::uint64_t p = 0; p < planes; ++p) {
    for (std::uint64_t r = 0; r < rows; ++r) {
      for (std::uint64_t i = 0; i < row_bytes; ++i) {
        target[to.address - to_base + p * to.plane_stride + r * to.row_stride + i] =
            source[from.address - from_base + p * from.plane_stride + r * from.row_stride + i];
      }
    }
  }
  EXPECT_EQ(to_l1 ? bench.l1<unsigned char>(kL1, kBytes) : bench.dram<unsigned char>(kDram, kBytes), target);
}

TEST(Dma, BytesOf2DAnd3DCopies) {
  for (const bool to_l1 : {true, false}) {
    check_bytes(to_l1, {kL1, 10, 0}, {kDram, 10, 0}, 10, 5, 1);                // dense
    check_bytes(to_l1, {kL1 + 6, 64, 0}, {kDram + 2, 128, 0}, 50, 9, 1);       // 2D
    check_bytes(to_l1, {kL1, 40, 400}, {kDram + 100, 40, 1000}, 40, 10, 6);    // planes apart
    check_bytes(to_l1, {kL1 + 2, 46, 500}, {kDram + 10, 60, 700}, 44, 10, 7);  // 3D
    check_bytes(to_l1, {kL1, 3000, 0}, {kDram, 2500, 0}, 2500, 3, 1);          // rows longer than a burst
  }
}

TEST(Dma, BusyCyclesAreTimesWithABurstUnderWay) {
  // A read of 64 B is under way from its doorbell at 17 on. At 34 a write joins it: its burst of 1024 B is
  // read from L1 over a port of 2 B/cycle, which the read's 64 B need as well from 125 on: busy from 34 for
  // 1088 / 2 = 544. The read ends before the write's data reach DRAM, 128 more: at no time nothing is under
  // way.
  MachineConfig m = with_outstanding(2);
  m.l1.port_bytes_per_cycle = 2;
  Bench bench(m);
  const std::uint64_t cycles = bench.run([](Bench& b) {
    b.push(channel(0), then(copy(64, kDram, kL1), 0));
    b.push(channel(1), then(copy(1024, kL1 + 4096, kDram + 4096), 0));
    b.take(0, 2);
  });
  EXPECT_EQ(cycles, 2 * kPush + 544 + 128);
  EXPECT_EQ(bench.cluster().dma->value("busy_cycles"), cycles - kPush);
}

TEST(Dma, NopWaitsForTheChannelsTransfers) {
  Bench bench(with_outstanding(4));
  bench.run([](Bench& b) {
    b.push(channel(0), copy(4096, kDram, kL1));
    b.push(channel(0), then(nop(), 3));
    b.take(3);
    EXPECT_EQ(b.now(), kPush + 100 + 4 * 128 + 16);
  });
  EXPECT_EQ(bench.faults().faults().size(), 0U);
}

// Two channels with a transfer of two bursts each become ready at the same moment; one burst at a time is
// under way. A burst takes P = 100 + 128 + 16. Channel 2's doorbell rang first. Gives the ends of channel 1's
// and 2's transfers.
std::pair<std::uint64_t, std::uint64_t> ends(DmaArbitration arbitration, bool first_deferrable = false) {
  MachineConfig m = with_outstanding(1);
  m.dma.arbitration = arbitration;
  Bench bench(m);
  std::uint64_t released = 0;
  std::pair<std::uint64_t, std::uint64_t> done;
  bench.run([&](Bench& b) {
    hal::Descriptor older = copy(2048, kDram, kL1), younger = copy(2048, kDram + 4096, kL1 + 4096);
    if (first_deferrable) older.flags = hal::kDeferrable;
    b.push(channel(2), then(after(older, 0), 2));
    b.push(channel(1), then(after(younger, 1), 3));
    b.push(kVec, then(nop(), 0, 1, 2));
    released = b.now();
    const auto poll = [&](std::uint32_t event, std::uint64_t& at) {
      if (at == 0 && b.count(event) > 0) at = b.now();
    };
    while (done.first == 0 || done.second == 0) {
      poll(3, done.first);
      poll(2, done.second);
    }
  });
  return {done.first - released, done.second - released};
}

constexpr std::uint64_t kBurst = 100 + 128 + 16;

TEST(DmaArbitration, AgeServesTheOlderDoorbellFirst) {
  const auto [channel1, channel2] = ends(DmaArbitration::kAge);
  EXPECT_NEAR(static_cast<double>(channel2), 2 * kBurst, 2);  // polled every other cycle
  EXPECT_NEAR(static_cast<double>(channel1), 4 * kBurst, 2);
}

TEST(DmaArbitration, AgeLetsOthersPassADeferrableDescriptor) {
  const auto [channel1, channel2] = ends(DmaArbitration::kAge, true);
  EXPECT_NEAR(static_cast<double>(channel1), 2 * kBurst, 2);
  EXPECT_NEAR(static_cast<double>(channel2), 4 * kBurst, 2);
}

TEST(DmaArbitration, PriorityServesTheLowerChannelFirst) {
  const auto [channel1, channel2] = ends(DmaArbitration::kPriority);
  EXPECT_NEAR(static_cast<double>(channel1), 2 * kBurst, 2);
  EXPECT_NEAR(static_cast<double>(channel2), 4 * kBurst, 2);
}

TEST(DmaArbitration, RoundRobinTakesTurns) {
  const auto [channel1, channel2] = ends(DmaArbitration::kRoundRobin);
  EXPECT_NEAR(static_cast<double>(channel1), 3 * kBurst, 2);  // 1 2 1 2
  EXPECT_NEAR(static_cast<double>(channel2), 4 * kBurst, 2);
}

TEST(Dma, ChannelsKeepTheirOrder) {
  // Three transfers on one channel onto the same bytes: the last one stays.
  Bench bench(with_outstanding(16));
  for (std::uint16_t i = 0; i < 3; ++i) {
    bench.set_dram(kDram + i * 4096, std::vector<std::uint16_t>(1024, static_cast<std::uint16_t>(i + 1)));
  }
  bench.run([](Bench& b) {
    for (std::uint32_t i = 0; i < 3; ++i) b.push(channel(0), then(copy(2048, kDram + i * 4096, kL1), 0));
    b.take(0, 3);
  });
  EXPECT_EQ(bench.l1<std::uint16_t>(kL1, 1024), std::vector<std::uint16_t>(1024, 3));
}

TEST(Dma, ManySmallTransfersFillTheBus) {
  // 64 transfers of 64 B back to back, 16 bursts under way: latency once, then 8 cycles each; the doorbells
  // (17 cycles each) are slower than that, so the last transfer's own latency ends it.
  MachineConfig m = with_outstanding(16);
  m.dma.queue_depth = 64;
  Bench bench(m);
  bench.run([](Bench& b) {
    for (std::uint32_t i = 0; i < 64; ++i)
      b.push(channel(0), then(after(copy(64, kDram + i * 64, kL1 + i * 64), 1), 0));
    b.give(1, 64);
    const std::uint64_t released = b.now();
    b.take(0, 64);
    // 16 requests at once, then one for every row done: the bus never idles after the first latency (16 x 8 >
    // 100).
    EXPECT_EQ(b.now() - released, 100U + 64 * 8 + 1);
  });
}

TEST(Dma, TimingModeTakesTheSameCycles) {
  Bench bench(with_outstanding(4), false);
  EXPECT_EQ(cycles_of(bench, channel(0), copy(4096, kDram, kL1)), kPush + 100 + 4 * 128 + 16);
  EXPECT_EQ(cycles_of(bench, channel(0), copy(4096, kL1, kDram)), kPush + 16 + 4 * 128);
}

}  // namespace
}  // namespace attnvp::bench
