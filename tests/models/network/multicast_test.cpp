// Reads of DRAM that several clusters share, on the bench of network_test.cpp: a link takes 64 bytes a cycle, a hop is
// 5 cycles, a packet's head takes 10 over a crossbar.
#include <algorithm>
#include <numeric>
#include <random>

#include "models/interconnect/config.h"
#include "models/memory/config.h"
#include "models/registry.h"
#include "tests/models/bench.h"

namespace attnvp::bench {
namespace {

constexpr std::uint64_t kThere = 10;

MachineConfig on(const char* kind, bool multicast, std::uint32_t clusters = 3) {
  MachineConfig m = machine();
  m.clusters = clusters;
  m.interconnect.kind = kind;
  m.dram.latency_seconds = 2000e-9;  // so that everybody has asked before the first is answered
  m.own<NetworkConfig>().hop_cycles = 5;
  m.own<NetworkConfig>().multicast = multicast;
  return m;
}

std::uint64_t of(Bench& bench, const char* module, const char* counter) {
  std::uint64_t value = 0;
  for_each_module(bench.platform(), [&](Module& m) {
    if (std::string(m.basename()) == module) value = m.value(counter);
  });
  return value;
}
std::uint64_t counter(Bench& bench, const char* name) { return of(bench, "bus", name); }
std::uint64_t dram_words(Bench& bench, const char* name) { return of(bench, "dram", name); }
std::uint64_t channel_of(std::uint32_t cluster, std::uint32_t i = 0) {
  return hal::dma_base(cluster) + i * hal::kQueueStride;
}
std::vector<std::uint16_t> numbers(std::size_t n) {
  std::vector<std::uint16_t> out(n);
  std::iota(out.begin(), out.end(), std::uint16_t{1});
  return out;
}

// Cluster 1 begins to read when its doorbell is written; the answer to that takes 10 cycles, cluster 0's descriptor 17.
TEST(Multicast, WhoeverAsksLaterWaitsForTheSameAnswer) {
  Bench bench(on("crossbar", true));
  bench.set_dram(kDram, numbers(32));
  bench.run([](Bench& b) {
    b.push(channel_of(1), copy(64, kDram, hal::l1_base(1)));
    b.push(channel_of(0), copy(64, kDram, kL1));
  });
  // The request, on the link behind the doorbell's answer; 2000 + 8 cycles of DRAM; a head and a flit of data; the L1
  // port.
  constexpr std::uint64_t kRead = 1 + kThere + 2008 + kThere + 1 + 1;
  EXPECT_EQ(bench.platform().clusters[1]->dma->value("busy_cycles"), kRead);
  EXPECT_EQ(bench.platform().clusters[0]->dma->value("busy_cycles"), kRead - kThere - kPush);
  EXPECT_EQ(dram_words(bench, "read_words"), 32U);
  EXPECT_EQ(counter(bench, "multicast_reads"), 1U);
  EXPECT_EQ(counter(bench, "multicast_bytes"), 64U);
  EXPECT_EQ(bench.dram<std::uint16_t>(kL1, 32), numbers(32));
  EXPECT_EQ(bench.dram<std::uint16_t>(hal::l1_base(1), 32), numbers(32));
}

// 16 bursts for three clusters: 17 flits each, which the link of the DRAM's port carries once, each cluster's link
// once.
TEST(Multicast, SharedLinksAndDramAreUsedOnce) {
  std::uint64_t hops[2], words[2];
  for (const bool multicast : {false, true}) {
    MachineConfig m = on("crossbar", multicast);
    m.dma.outstanding = 16;
    Bench bench(m);
    bench.set_dram(kDram, numbers(8192));
    bench.run([](Bench& b) {
      for (std::uint32_t c : {2U, 1U, 0U}) b.push(channel_of(c), copy(16 << 10, kDram, hal::l1_base(c)));
    });
    for (std::uint32_t c = 0; c < 3; ++c)
      EXPECT_EQ(bench.dram<std::uint16_t>(hal::l1_base(c), 8192), numbers(8192)) << c;
    hops[multicast ? 1 : 0] = counter(bench, "flit_hops");
    words[multicast ? 1 : 0] = dram_words(bench, "read_words");
    if (multicast) {
      EXPECT_EQ(counter(bench, "multicast_reads"), 32U);
      EXPECT_EQ(counter(bench, "most_read_bytes"), 16U << 10);
    }
  }
  EXPECT_EQ(words[0], 3 * words[1]);
  EXPECT_EQ(hops[0] - hops[1], 2U * 16 * 17);
}

// A cluster reads, what it reads is written, another one reads: it gets what was written, by a read of its own.
void write_between(bool write) {
  MachineConfig m = on("crossbar", true);
  m.own<FixedDramConfig>().duplex = true;  // otherwise the write waits for the first read
  Bench bench(m);
  bench.set_dram(kDram, numbers(32));
  bench.run([&](Bench& b) {
    b.set_dram(kL1, std::vector<std::uint16_t>{7});
    b.push(channel_of(1), copy(64, kDram, hal::l1_base(1)));
    b.push(channel_of(0), then(copy(2, kL1, write ? kDram + 62 : kDram + 64), 0));
    b.push(channel_of(0), after(copy(64, kDram, kL1 + 64), 0));
  });
  std::vector<std::uint16_t> now = numbers(32);
  EXPECT_EQ(bench.dram<std::uint16_t>(hal::l1_base(1), 32), now);
  if (write) now.back() = 7;
  EXPECT_EQ(bench.dram<std::uint16_t>(kL1 + 64, 32), now);
  EXPECT_EQ(counter(bench, "multicast_reads"), write ? 0U : 1U);
}
TEST(Multicast, NobodyJoinsAReadOfWhatWasWrittenSince) { write_between(true); }
TEST(Multicast, OtherWritesDoNotMatter) { write_between(false); }

TEST(Multicast, AClusterJoinsNoneOfItsOwn) {
  Bench bench(on("crossbar", true));
  bench.set_dram(kDram, numbers(32));
  bench.run([](Bench& b) {
    for (std::uint32_t i : {0U, 1U}) b.push(channel_of(0, i), copy(64, kDram, kL1 + 64 * i));
    // Two of another cluster join one each.
    for (std::uint32_t i : {0U, 1U}) b.push(channel_of(1, i), copy(64, kDram, hal::l1_base(1) + 64 * i));
  });
  EXPECT_EQ(dram_words(bench, "read_words"), 64U);
  EXPECT_EQ(counter(bench, "multicast_reads"), 2U);
  EXPECT_EQ(bench.dram<std::uint16_t>(hal::l1_base(1) + 64, 32), numbers(32));
}

// Copies of every cluster out of a few places that nobody writes, and back to others: every byte is where it is without
// multicast, DRAM has been read less by what was saved, and time does not depend on data.
void random_copies(const char* kind) {
  std::mt19937 random(kind[0]);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  std::uint64_t joined = 0;
  for (int round = 0; round < 12; ++round) {
    const std::uint32_t clusters = 2 + below(4);
    struct Copy {
      std::uint64_t queue;
      hal::Descriptor descriptor;
    };
    std::vector<Copy> copies;
    for (std::uint32_t i = 0; i < 40; ++i) {
      const std::uint32_t c = below(clusters), bytes = 64 << below(6), at = 2048 * below(4);
      const std::uint64_t own = hal::l1_base(c) + 4096 * i;
      const bool back = below(4) == 0;
      copies.push_back({channel_of(c, below(2)),
                        back ? copy(bytes, own, kDram + (1 << 20) + 4096 * i) : copy(bytes, kDram + at, own)});
    }
    MachineConfig m = on(kind, false, clusters);
    m.dram.latency_seconds = below(2) == 0 ? 50e-9 : 500e-9;
    m.dram.policy = round % 3 == 0 ? "banked" : "fixed";
    m.own<NetworkConfig>().dram_ports = 1 + below(2);
    m.own<NetworkConfig>().hertz = below(2) == 0 ? 0 : 0.7e9;
    settle(m);
    std::vector<std::uint16_t> out[3];
    std::uint64_t words[3], cycles[3], saved = 0;
    for (int run = 0; run < 3; ++run) {  // without, with, with and no data
      m.own<NetworkConfig>().multicast = run > 0;
      Bench bench(m, run < 2);
      bench.set_dram(kDram, numbers(8192));
      bench.run([&](Bench& b) {
        for (const Copy& c : copies) b.push(c.queue, c.descriptor);
      });
      cycles[run] = bench.platform().context().clock.now();
      EXPECT_FALSE(bench.faults().any());
      words[run] = dram_words(bench, "read_words");
      for (std::uint32_t c = 0; c < clusters && run < 2; ++c) {
        const auto here = bench.dram<std::uint16_t>(hal::l1_base(c), 40 * 2048);
        out[run].insert(out[run].end(), here.begin(), here.end());
      }
      if (run == 1) saved = counter(bench, "multicast_bytes");
    }
    ASSERT_EQ(out[1], out[0]) << round;
    EXPECT_EQ(2 * words[1] + saved, 2 * words[0]) << round;
    EXPECT_EQ(cycles[2], cycles[1]) << round;
    EXPECT_EQ(words[2], words[1]) << round;
    joined += saved;
  }
  EXPECT_GT(joined, 0U);
}
TEST(Multicast, RandomCopiesOnACrossbar) { random_copies("crossbar"); }
TEST(Multicast, RandomCopiesOnAMesh) { random_copies("mesh"); }

}  // namespace
}  // namespace attnvp::bench
