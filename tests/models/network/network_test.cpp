// Networks on a machine. By hand: a link takes 64 bytes a cycle, a hop is 5 cycles. On a crossbar a packet goes over
// two links: 10 cycles for its head, one more for every other flit.
#include "models/interconnect/config.h"
#include "tests/models/bench.h"

namespace attnvp::bench {
namespace {

MachineConfig on(const char* kind, std::uint32_t clusters = 2) {
  MachineConfig m = machine();
  m.clusters = clusters;
  m.interconnect.kind = kind;
  m.own<NetworkConfig>().hop_cycles = 5;
  return m;
}

// From the doorbell to the event.
std::uint64_t cycles_of_copy(const MachineConfig& m, std::uint32_t bytes, std::uint64_t from, std::uint64_t to) {
  Bench bench(m);
  std::vector<std::uint16_t> numbers(bytes / 2);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::uint16_t>(i + 1);
  std::uint64_t cycles = 0;
  bench.run([&](Bench& b) {
    b.set_dram(from, numbers);
    b.push(channel(0), then(copy(bytes, from, to), 0));
    b.take(0);
    cycles = b.now() - kPush;
  });
  EXPECT_EQ(bench.dram<std::uint16_t>(to, numbers.size()), numbers);
  EXPECT_FALSE(bench.faults().any());
  return cycles;
}

constexpr std::uint64_t kThere = 10, kL1Of1 = hal::l1_base(1);

TEST(Network, ReadOfDram) {
  // The request; 100 + 8 cycles of DRAM; a head and a flit of data; the L1 port.
  EXPECT_EQ(cycles_of_copy(on("crossbar"), 64, kDram, kL1), kThere + 108 + kThere + 1 + 1);
}

TEST(Network, WriteToDram) {
  // The L1 port; a head and 16 flits of data; 1024 / 8 cycles of DRAM; the answer.
  EXPECT_EQ(cycles_of_copy(on("crossbar"), 1024, kL1, kDram), 16 + kThere + 16 + 128 + kThere);
}

TEST(Network, OutOfAnotherClustersL1) {
  EXPECT_EQ(cycles_of_copy(on("crossbar"), 64, kL1Of1, kL1), kThere + 1 + kThere + 1 + 1);
}

TEST(Network, IntoAnotherClustersL1) {
  EXPECT_EQ(cycles_of_copy(on("crossbar"), 64, kL1, kL1Of1), 1 + kThere + 1 + 1 + kThere);
}

// 16 bursts of 1 KiB are 17 flits each on the way back: the link into the cluster is what they need most, where DRAM
// gives 64 bytes a cycle.
TEST(Network, LinksLimitWhatAClusterDraws) {
  MachineConfig m = on("crossbar");
  m.dma.outstanding = 16;
  m.dram.bytes_per_second = 640e9;
  EXPECT_EQ(cycles_of_copy(m, 16 << 10, kDram, kL1), kThere + 102 + kThere + 16 * 17 - 1 + 16);
}

// The processor's write of an event: the request, 2 flits, and the answer; none of it within the cluster.
std::uint64_t cycles_of_signal(const char* kind, std::uint32_t cluster) {
  Bench bench(on(kind));
  std::uint64_t cycles = 0;
  bench.run([&](Bench& b) {
    hal::write32(b.cpu(), hal::events_base(cluster) + hal::kEventSignal, 1);
    cycles = b.now();
  });
  EXPECT_EQ(bench.platform().clusters[cluster]->events->tokens(0), 1U);
  return cycles;
}
TEST(Network, SignalsOfOtherClustersTakeTheWay) {
  EXPECT_EQ(cycles_of_signal("crossbar", 1), cycles_of_signal("ideal", 1) + kThere + 1 + kThere);
}
TEST(Network, SignalsOfTheClusterDoNot) { EXPECT_EQ(cycles_of_signal("crossbar", 0), cycles_of_signal("ideal", 0)); }

// 4 nodes in 2 columns: DRAM, cluster 0 / cluster 1, cluster 2. From 0 to 1: into the network, west, south, out of it.
TEST(Network, MeshTakesAsManyHopsAsItIsFar) {
  const auto read = [](std::uint64_t hops) { return 5 * hops + 108 + 5 * hops + 1 + 1; };
  EXPECT_EQ(cycles_of_copy(on("mesh", 3), 64, kDram, kL1), read(3));
  EXPECT_EQ(cycles_of_copy(on("mesh", 3), 64, kL1Of1, kL1), read(4) - 108 + 1);
}

// Links of half the platform's clock: 20 cycles there, 2 for a flit.
TEST(Network, LinksHaveAClockOfTheirOwn) {
  MachineConfig m = on("crossbar");
  m.own<NetworkConfig>().hertz = 0.5e9;
  const std::uint64_t cycles = cycles_of_copy(m, 64, kDram, kL1);
  EXPECT_GE(cycles, 20U + 108 + 20 + 2 + 1);
  EXPECT_LE(cycles, 20U + 108 + 20 + 2 + 1 + 2);  // an access begins with the links' next cycle
}

}  // namespace
}  // namespace attnvp::bench
