// Copies by any route of the address map. By hand: DRAM gives 8 B/cycle after 100 cycles (reads only), every L1 port 64
// B/cycle; bursts of 1 KiB are 128 cycles on DRAM's bus and 16 at a port. The DMA controller has one port of its own
// L1; every L1 has one for the interconnect.
#include <numeric>

#include "tests/models/bench.h"

namespace attnvp::bench {
namespace {

constexpr std::uint64_t kL1Of1 = hal::l1_base(1), kL1Of2 = hal::l1_base(2);

MachineConfig clusters(std::uint32_t outstanding = 4) {
  MachineConfig m = machine();
  m.clusters = 3;
  m.dma.outstanding = outstanding;
  return m;
}

std::vector<std::uint16_t> numbers(std::size_t n) {
  std::vector<std::uint16_t> out(n);
  std::iota(out.begin(), out.end(), std::uint16_t{1});
  return out;
}

// Cycles of a copy of 4 KiB, from its doorbell on.
std::uint64_t cycles_of_copy(const MachineConfig& m, std::uint64_t from, std::uint64_t to) {
  Bench bench(m);
  std::uint64_t cycles = 0;
  bench.run([&](Bench& b) {
    b.set_dram(from, numbers(2048));  // any memory, by the interconnect
    b.push(channel(0), then(copy(4096, from, to), 0));
    b.take(0);
    cycles = b.now() - kPush;
  });
  EXPECT_EQ(bench.dram<std::uint16_t>(to, 2048), numbers(2048));
  EXPECT_FALSE(bench.faults().any());
  return cycles;
}

TEST(DmaRoutes, IntoAnotherClustersL1) {
  // A burst is sent on, 16, while the next is read.
  EXPECT_EQ(cycles_of_copy(clusters(), kL1 + 64, kL1Of1), 16 + 4U * 16);
}

TEST(DmaRoutes, OutOfAnotherClustersL1) {
  // A burst is written while the next is read; the last one's 16 remain.
  EXPECT_EQ(cycles_of_copy(clusters(), kL1Of1, kL1 + 64), 4U * 16 + 16);
}

TEST(DmaRoutes, BetweenTwoOtherClusters) { EXPECT_EQ(cycles_of_copy(clusters(), kL1Of2, kL1Of1 + 64), 4U * 16 + 16); }

TEST(DmaRoutes, WithinAnotherClustersL1) {
  // Reads and writes share the port: the first read alone, 16, three times a read beside a write, 32, the last write.
  EXPECT_EQ(cycles_of_copy(clusters(), kL1Of1, kL1Of1 + 8192), 16U + 3 * 32 + 16);
}

TEST(DmaRoutes, WithinTheOwnL1) { EXPECT_EQ(cycles_of_copy(clusters(), kL1, kL1 + 8192), 16U + 3 * 32 + 16); }

TEST(DmaRoutes, WithinDram) {
  // All four are asked for at once: data from 100 on, the last at 612. The first is there at 228; its write follows the
  // reads on the bus, and the other writes it: 4 x 128 more.
  EXPECT_EQ(cycles_of_copy(clusters(), kDram, kDram + 8192), 100U + 4 * 128 + 4 * 128);
}

TEST(DmaRoutes, WithinDramOneAtATime) {  // latency, read, write
  EXPECT_EQ(cycles_of_copy(clusters(1), kDram, kDram + 8192), 4U * (100 + 128 + 128));
}

TEST(DmaRoutes, BetweenDramAndAnotherClustersL1) {
  // As to the own L1, where the write at the port is 16 as well.
  EXPECT_EQ(cycles_of_copy(clusters(), kDram, kL1Of1), 100U + 4 * 128 + 16);
}

TEST(DmaRoutes, BetweenAnotherClustersL1AndDram) {
  // Read by 16, 32, 48, 64; the first write begins at 16 and the bus is busy for 4 x 128.
  EXPECT_EQ(cycles_of_copy(clusters(), kL1Of1, kDram), 16U + 4 * 128);
}

TEST(DmaRoutes, CountWhatCrossesTheInterconnect) {
  Bench bench(clusters());
  bench.run([](Bench& b) {
    b.push(channel(0), copy(64, kDram, kDram + 4096));
    b.push(channel(0), copy(32, kL1, kL1Of1));
    b.push(channel(0), copy(16, kL1Of1, kL1));
    b.push(channel(0), copy(8, kL1, kL1 + 4096));
    b.push(channel(0), then(nop(), 0));
    b.take(0);
  });
  EXPECT_EQ(bench.cluster().dma->value("read_bytes"), 64U + 16);
  EXPECT_EQ(bench.cluster().dma->value("write_bytes"), 64U + 32);
}

// Every byte of a 3D copy lands where a triple loop puts it, and nothing else changes.
TEST(DmaRoutes, BytesOf3DCopies) {
  constexpr std::uint32_t kRowBytes = 44, kRows = 10, kPlanes = 7;
  constexpr std::size_t kBytes = 32 << 10;
  Bench bench(clusters());
  const std::uint64_t memories[] = {kDram, kL1, kL1Of1, kL1Of2};
  bench.run([&](Bench& b) {
    for (const std::uint64_t from : memories) {
      for (const std::uint64_t to : memories) {
        std::vector<unsigned char> source(kBytes), target(kBytes, 0xEE);
        for (std::size_t i = 0; i < kBytes; ++i) source[i] = static_cast<unsigned char>(i * 7 + i / 256);
        const std::uint64_t to_base = to + kBytes;  // apart, where both are one memory
        b.set_dram(from, source);
        b.set_dram(to_base, target);
        b.push(channel(0), then(copy(kRowBytes, kRows, kPlanes, {from + 10, 60, 700}, {to_base + 2, 46, 500}), 0));
        b.take(0);
        for (std::size_t p = 0; p < kPlanes; ++p) {
          for (std::size_t r = 0; r < kRows; ++r) {
            for (std::size_t i = 0; i < kRowBytes; ++i)
              target[2 + p * 500 + r * 46 + i] = source[10 + p * 700 + r * 60 + i];
          }
        }
        EXPECT_EQ(b.dram<unsigned char>(to_base, kBytes), target) << std::hex << from << " to " << to;
      }
    }
  });
}

TEST(DmaRoutes, InterleavedRowsOfOneMemoryLieApart) {
  Bench bench(clusters());
  bench.run([](Bench& b) {
    b.set_l1(kL1, numbers(1024));
    b.push(channel(0), then(copy(64, 4, 2, {kL1, 256, 1024}, {kL1 + 64, 256, 1024}), 0));
    EXPECT_TRUE(b.take(0));
    EXPECT_EQ(b.l1<std::uint16_t>(kL1 + 64, 32), numbers(32));
    EXPECT_EQ(b.l1<std::uint16_t>(kL1 + 128, 1).front(), 65U);  // what is between them stays
  });
}

TEST(DmaRoutes, APlaneThatMeetsAnotherOneIsAnOverlap) {
  Bench bench(clusters());
  bench.run([](Bench& b) {  // the second source plane is the first destination plane
    b.push(channel(0), then(copy(64, 4, 2, {kL1, 64, 1024}, {kL1 + 1024, 64, 1024}), 0));
    EXPECT_FALSE(b.take(0));
  });
  ASSERT_TRUE(bench.faults().any());
  EXPECT_EQ(bench.faults().faults().front().code, FaultCode::kOverlap);
}

}  // namespace
}  // namespace attnvp::bench
