// Sectors of lines: by hand, and on random traces against a set of what is there. DRAM gives 8 B/cycle after 100
// cycles, the cache 64 after 10, an L1 port 64.
#include "models/memory/cached_dram/cached_dram.h"

#include <random>
#include <set>

#include "tests/models/bench.h"

namespace attnvp::bench {
namespace {

MachineConfig with_cache(std::uint64_t lines, std::uint32_t sectors) {
  MachineConfig m = machine();
  m.dram.policy = "cached";
  auto& cache = m.own<CacheConfig>();
  cache.size_bytes = lines * 4096;
  cache.sectors = sectors;
  cache.bytes_per_second = 64e9;
  cache.latency_seconds = 10e-9;
  return m;
}

struct Traffic {
  std::uint64_t read, written;
  bool operator==(const Traffic& o) const { return read == o.read && written == o.written; }
};
Traffic traffic_of(Bench& b) {
  const Memory& dram = *b.platform().dram;
  return {2 * dram.value("read_words"), 2 * dram.value("write_words")};
}

// Cycles from the doorbell on.
std::uint64_t move(Bench& b, std::uint64_t bytes, std::uint64_t from, std::uint64_t to) {
  const std::uint64_t begin = b.now();
  b.push(channel(0), then(copy(static_cast<std::uint32_t>(bytes), from, to), 0));
  b.take(0);
  return b.now() - begin - kPush;
}

TEST(CachedDram, ReadsTheSectorsThatAreAskedFor) {
  Bench bench(with_cache(16, 64));
  bench.run([](Bench& b) {
    EXPECT_EQ(move(b, 256, kDram, kL1), 100U + 256 / 8 + 4);  // four of them
    EXPECT_EQ(traffic_of(b), (Traffic{256, 0}));
    EXPECT_EQ(move(b, 256, kDram, kL1), 10U + 256 / 64 + 4);  // which are there now
    EXPECT_EQ(traffic_of(b), (Traffic{256, 0}));
    EXPECT_EQ(move(b, 256, kDram + 256, kL1), 100U + 256 / 8 + 4);  // the next ones are not
    EXPECT_EQ(move(b, 120, kDram + 540, kL1), 100U + 192 / 8 + 2);  // parts of three
    EXPECT_EQ(traffic_of(b), (Traffic{256 + 256 + 192, 0}));
    EXPECT_EQ(move(b, 128, kDram + 448, kL1), 10U + 2 + 2);  // two of which those were one each
  });
}

TEST(CachedDram, ReadsWholeLinesWhereThoseHaveNoSectors) {
  Bench bench(with_cache(16, 1));
  bench.run([](Bench& b) {
    EXPECT_EQ(move(b, 256, kDram, kL1), 100U + 4096 / 8 + 4);
    EXPECT_EQ(move(b, 256, kDram + 2048, kL1), 10U + 4 + 4);
    EXPECT_EQ(traffic_of(b), (Traffic{4096, 0}));
  });
}

TEST(CachedDram, WritesBackTheSectorsThatWereWritten) {
  MachineConfig m = with_cache(1, 64);
  m.own<CacheConfig>().write_back = true;
  Bench bench(m);
  bench.run([](Bench& b) {
    move(b, 128, kL1, kDram + 64);
    EXPECT_EQ(traffic_of(b), (Traffic{0, 0}));
    move(b, 64, kDram + 64, kL1);  // they are there
    EXPECT_EQ(traffic_of(b), (Traffic{0, 0}));
    move(b, 64, kDram + 4096, kL1);  // another line has to have the place
    EXPECT_EQ(traffic_of(b), (Traffic{64, 128}));
  });
}

// 128 bytes leave L1 in 2 cycles and enter the cache in 2, and are acknowledged 50 cycles later. Reads are as before.
TEST(CachedDram, AcknowledgesWritesLate) {
  MachineConfig m = with_cache(16, 64);
  m.own<CacheConfig>().write_latency_seconds = 50e-9;
  Bench bench(m);
  bench.run([](Bench& b) {
    EXPECT_EQ(move(b, 128, kL1, kDram), 2U + 2 + 50);
    EXPECT_EQ(move(b, 128, kDram, kL1), 10U + 2 + 2);
  });
}

// Of eight lines, the share that is there at first is spread evenly: every fourth, or none, or all.
TEST(CachedDram, StartsWithAShareOfTheLines) {
  for (const auto& [percent, missed] : {std::pair{25U, 6U}, {0U, 8U}, {100U, 0U}, {50U, 4U}}) {
    MachineConfig m = with_cache(16, 64);
    m.own<CacheConfig>().warm = true;
    m.own<CacheConfig>().warm_percent = percent;
    Bench bench(m);
    bench.run([&, lines = missed](Bench& b) {
      for (std::uint64_t line = 0; line < 8; ++line) move(b, 64, kDram + 4096 * line, kL1);
      EXPECT_EQ(traffic_of(b), (Traffic{64 * lines, 0}));
      EXPECT_EQ(move(b, 64, kDram + 3 * 4096, kL1), 10U + 1 + 1);  // by now it is there in any case
    });
  }
}

// One access after the other to few lines that all have room: what misses is what was not touched before.
TEST(CachedDram, FiftyRandomTraces) {
  std::mt19937 random(3);
  for (int trace = 0; trace < 50; ++trace) {
    const std::uint32_t sectors = 1U << random() % 7;
    const std::uint64_t sector = 4096 / sectors;
    Bench bench(with_cache(16, sectors));
    bench.run([&](Bench& b) {
      std::set<std::uint64_t> there;
      Traffic expected{0, 0};
      for (int i = 0; i < 60; ++i) {
        const std::uint64_t bytes = 2 * (1 + random() % 512), at = random() % (8 * 4096);
        const bool write = random() % 4 == 0;
        for (std::uint64_t s = at / sector; s <= (at + bytes - 1) / sector; ++s) {
          if (there.insert(s).second && !write) expected.read += sector;
        }
        if (write) expected.written += bytes;
        move(b, bytes, write ? kL1 : kDram + at, write ? kDram + at : kL1);
        ASSERT_EQ(traffic_of(b), expected) << "trace " << trace << " access " << i;
      }
    });
  }
}

}  // namespace
}  // namespace attnvp::bench
