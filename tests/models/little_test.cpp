// Little's law: what one cluster, or one channel, can draw is what it has under way over the time that takes. By hand:
// DRAM answers after 1000 cycles, a burst of 64 bytes is a cycle at an L1 port.
#include "models/control/control_processor/cpu.h"
#include "models/memory/cached_dram/cached_dram.h"
#include "tests/models/bench.h"

namespace attnvp::bench {
namespace {

MachineConfig machine_of(std::uint32_t clusters, std::uint32_t outstanding, double dram_bytes_per_cycle) {
  MachineConfig m = machine();
  m.clusters = clusters;
  m.dma.burst_bytes = 64;
  m.dma.outstanding = outstanding;
  m.dram.latency_seconds = 1000e-9;
  m.dram.bytes_per_second = dram_bytes_per_cycle * 1e9;
  return m;
}

// Bytes per cycle that all clusters together draw, each through so many channels.
double drawn(const MachineConfig& m, std::uint32_t channels, std::uint32_t bytes) {
  sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
  auto platform = std::make_unique<Platform>("attnvp", m, false, [&](hal::Cpu& cpu, std::uint32_t cluster) {
    const std::uint64_t events = hal::events_base(cluster);
    for (std::uint32_t c = 0; c < channels; ++c) {
      const std::uint64_t queue = hal::dma_base(cluster) + c * hal::kQueueStride;
      const std::uint64_t to = hal::l1_base(cluster) + std::uint64_t{c} * bytes;
      const hal::Descriptor d = then(copy(bytes, kDram + (std::uint64_t{cluster} * channels + c) * bytes, to), c);
      hal::write(cpu, queue + hal::kQueueDescriptor, &d, d.length);
      hal::write32(cpu, queue + hal::kQueueDoorbell, 1);
    }
    for (std::uint32_t c = 0; c < channels; ++c) {
      hal::write32(cpu, events + c * hal::kEventStride + hal::kEventTake, 1);
    }
  });
  const std::uint64_t cycles = platform->run();
  EXPECT_TRUE(platform->all_finished());
  platform.reset();
  sc_core::sc_get_curr_simcontext()->reset();
  return double{1} * m.clusters * channels * bytes / static_cast<double>(cycles);
}

constexpr std::uint32_t kBytes = 64 << 10;
constexpr double kLatency = 1000 + 1 + 1;  // of a burst: DRAM, its bus, the L1 port

void expect_near(double found, double expected) { EXPECT_NEAR(found / expected, 1, 0.01); }

TEST(Little, OneClusterDrawsWhatItHasUnderWay) {
  expect_near(drawn(machine_of(1, 8, 64), 1, kBytes), 8 * 64 / kLatency);
}
TEST(Little, TwiceAsMuchUnderWay) { expect_near(drawn(machine_of(1, 16, 64), 1, kBytes), 16 * 64 / kLatency); }
TEST(Little, ChannelsShareTheClustersLimit) { expect_near(drawn(machine_of(1, 8, 64), 2, kBytes), 8 * 64 / kLatency); }
TEST(Little, AChannelsLimitIsItsOwn) {
  MachineConfig m = machine_of(1, 8, 64);
  m.dma.channel_outstanding = 4;
  expect_near(drawn(m, 1, kBytes), 4 * 64 / kLatency);
}
TEST(Little, EveryChannelHasItsOwnLimit) {
  MachineConfig m = machine_of(1, 8, 64);
  m.dma.channel_outstanding = 4;
  expect_near(drawn(m, 2, kBytes), 8 * 64 / kLatency);
}
// 30 clusters draw 15.3 of 20 bytes a cycle, 108 would draw 55.
TEST(Little, SomeClustersDoNotSaturateTheBus) {
  const double latency = 1000 + 64 / 20.0 + 1;
  expect_near(drawn(machine_of(30, 8, 20), 1, kBytes), 30 * 8 * 64 / latency);
}
TEST(Little, ManyClustersSaturateTheBus) { expect_near(drawn(machine_of(108, 8, 20), 1, kBytes), 20); }

// Lines that the cache has are there at once, others after 1000 cycles: out of order they need not wait for those.
std::uint64_t cycles_of_hits(bool in_order) {
  MachineConfig m = machine();
  m.dram.policy = "cached";
  m.own<CacheConfig>().line_bytes = 64;
  m.dram.latency_seconds = 1000e-9;
  m.dma.outstanding = 8;
  m.dma.burst_bytes = 64;
  m.dma.channel_outstanding = 4;
  m.dma.in_order = in_order;
  Bench bench(m);
  std::uint64_t begin = 0, end = 0;
  std::vector<std::uint16_t> numbers(32 << 10);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::uint16_t>(i * 7);
  bench.run([&](Bench& b) {
    b.set_dram(kDram, numbers);
    b.push(channel(0), then(copy(4096, kDram, kL1), 0));
    b.take(0);
    b.push(channel(0), then(copy(60 << 10, kDram + 4096, kL1 + 4096), 0));  // misses
    begin = b.now();
    b.push(channel(1), then(copy(4096, kDram, kL1 + (64 << 10)), 1));  // hits
    b.take(1);
    end = b.now();
    b.take(0);
  });
  EXPECT_EQ(bench.l1<std::uint16_t>(kL1, 32 << 10), numbers);
  EXPECT_EQ(bench.l1<std::uint16_t>(kL1 + (64 << 10), 2048),
            std::vector<std::uint16_t>(numbers.begin(), numbers.begin() + 2048));
  return end - begin;
}
TEST(Dma, HitsWaitForMissesInOrder) { EXPECT_GT(cycles_of_hits(true), 10'000U); }
TEST(Dma, HitsPassMissesOutOfOrder) { EXPECT_LT(cycles_of_hits(false), 5'000U); }

}  // namespace
}  // namespace attnvp::bench
