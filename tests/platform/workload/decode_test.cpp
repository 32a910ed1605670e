// Decoding: how tiles are dealt (the integers of LeanAttention's partition), what comes out, and that it takes as long
// as the tiles.
#include <fmt/format.h>

#include "platform/machine/error.h"
#include "tests/platform/runs.h"
#include "tests/support/tuned.h"

namespace attnvp::runs {
namespace {

const std::vector<std::string> kDecoding = {"lean", "flash-decoding", "flash2"};

// Parameters that `tiling` gives are not searched.
job::RunResult run(const std::string& hardware, const std::string& net, const std::string& dataflow, bool full = false,
                   const std::string& tiling = "") {
  const MachineConfig machine = config::load_hardware(hardware);
  const workload::Attention network = workload::load(net).attention();
  runs::Runner runner(machine, config::load_energy(machine.energy), full);
  job::Schedule schedule = job::parse_dataflow(dataflow);
  schedule.tiling = job::parse_tiling(tiling);
  schedule.tiling.set("nkv", std::min(network.emb <= 64 ? 256U : 128U, network.seq_kv));  // LeanAttention's BLOCK_N
  if (!full) return runner.run(network, schedule, nullptr, {});
  const job::Tensors tensors = job::random_tensors(network, 1);
  return runner.run(network, schedule, &tensors, {});
}

double occupancy(const job::RunResult& r) {
  return static_cast<double>(r.statistic("partition.tiles")) /
         (static_cast<double>(r.statistic("partition.max")) * 216);
}

// Every tile is computed once, on the worker that the partition gives it to, and takes its worker as long as any other.
void expect_tiles_once(const job::RunResult& r, std::uint64_t tile_cycles) {
  std::uint64_t tiles = 0, most = 0, with_most = 0;
  for (const job::Worker& w : r.workers) {
    const std::string mac = fmt::format("cluster{}.core{}.mac", w.cluster, w.core);
    EXPECT_EQ(r.sum(mac, "descriptors"), 2 * w.tiles);
    if (tile_cycles > 0) {
      EXPECT_EQ(r.sum(mac, "busy_cycles"), w.tiles * tile_cycles);
    }
    tiles += w.tiles;
    if (w.tiles > most) with_most = 0;
    most = std::max<std::uint64_t>(most, w.tiles);
    if (w.tiles == most) ++with_most;
  }
  EXPECT_EQ(tiles, r.statistic("partition.tiles"));
  EXPECT_EQ(most, r.statistic("partition.max"));
  EXPECT_EQ(with_most, r.statistic("partition.high_load"));
}

// More contexts than firmware can keep track of are refused, whichever dataflow deals them out.
TEST(Decode, RefusesMoreRequestsThanItHasRoomFor) {
  const std::string tiling = "bb=1,hh=1,nq=1,m0=16,n0=16,k0=16,kv=2,rb=1";
  for (const char* dataflow : {"lean", "flash-decoding", "flash2", "flash3"}) {
    EXPECT_THROW(run("edge", "H=2,N=1,E=16,phase=decode,batch=1025,cache=32", dataflow, false, tiling), job::RunError)
        << dataflow;
    EXPECT_GT(run("edge", "H=2,N=1,E=16,phase=decode,batch=1024,cache=32", dataflow, false, tiling).cycles, 0U)
        << dataflow;
  }
}

struct Row {  // of the paper's machine: 108 SMs, two workers each
  const char* net;
  std::uint32_t tiles, most, high_load;
  double occupancy;
  std::uint32_t splits, span, flash2_span;
  std::uint64_t tile_cycles;  // by hand, below
};

class Partition : public testing::TestWithParam<Row> {};

// A tile on a 64 x 8 array. d = 64, 256 keys: C 32 passes x 64, O 8 passes x 256. d = 128, 128 keys: C 16 passes x 128,
// O 16 x 128.
INSTANTIATE_TEST_SUITE_P(A100, Partition,
                         testing::Values(Row{"H=32,NQ=1,NKV=65536,E=64", 8192, 38, 200, .998, 6, 43, 256, 4096},
                                         Row{"H=12,NQ=1,NKV=65536,E=64", 3072, 15, 48, .948, 16, 16, 256, 4096},
                                         Row{"B=8,H=32,NQ=1,NKV=2048,E=128", 4096, 19, 208, .998, 1, 32, 32, 4096}));
#ifdef ATTNVP_LONG
INSTANTIATE_TEST_SUITE_P(A100Long, Partition,
                         testing::Values(Row{"B=8,H=32,NQ=1,NKV=16384,E=128", 32768, 152, 152, .998, 1, 256, 256, 4096},
                                         Row{"H=56,NQ=1,NKV=262144,E=64", 57344, 266, 104, .998, 7, 294, 1024, 4096}));
#endif

// The span of the split contexts is ceil(tiles / splits); 294 pieces of 1024 / 7 = 146.3 tiles, two a worker.
TEST_P(Partition, IsThePapers) {
  const Row& row = GetParam();
  const std::string tiling = "bb=1,hh=1,nq=1,m0=128,n0=16,k0=32,kv=1,rb=1";  // what a search chooses
  const job::RunResult lean = run("a100-40gb", row.net, "lean", false, tiling);
  EXPECT_EQ(lean.statistic("partition.tiles"), row.tiles);
  EXPECT_EQ(lean.statistic("partition.max"), row.most);
  EXPECT_EQ(lean.statistic("partition.high_load"), row.high_load);
  EXPECT_NEAR(occupancy(lean), row.occupancy, 0.0005);
  expect_tiles_once(lean, row.tile_cycles);

  const job::RunResult split = run("a100-40gb", row.net, "flash-decoding", false, tiling);
  EXPECT_EQ(split.statistic("partition.splits"), row.splits);
  EXPECT_EQ(split.statistic("partition.max"), row.span);
  expect_tiles_once(split, row.tile_cycles);

  const job::RunResult whole = run("a100-40gb", row.net, "flash2", false, tiling);
  EXPECT_EQ(whole.statistic("partition.splits"), 1U);
  EXPECT_EQ(whole.statistic("partition.max"), row.flash2_span);
  expect_tiles_once(whole, row.tile_cycles);
  EXPECT_GE(whole.cycles * 101, lean.cycles * 100);
}

class Decoded : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(Decoded, GoldenPasses) {
  const auto& [net, dataflow] = GetParam();
  const bool long_context = net.find("65536") != std::string::npos;
  const std::vector<std::string> machines =
      long_context ? std::vector<std::string>{"a100-40gb"} : std::vector<std::string>{"edge", "cluster3", "a100-40gb"};
  for (const std::string& machine : machines) {
    const job::RunResult r = run(machine, net, dataflow, true);
    ASSERT_TRUE(r.golden_checked);
    EXPECT_TRUE(r.golden.passed) << machine << ": " << r.golden.to_string();
    expect_tiles_once(r, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Contexts, Decoded,
    testing::Combine(testing::Values("H=3,NQ=1,NKV=1,E=64", "H=3,NQ=1,NKV=255,E=64", "H=3,NQ=1,NKV=256,E=64",
                                     "H=3,NQ=1,NKV=257,E=64", "H=3,NQ=1,NKV=5000,E=64", "H=2,NQ=1,NKV=65536,E=64",
                                     "H=2,NQ=1,L=1000+1+5000+256,E=64", "H=12,HKV=3,NQ=2,L=300+2049,E=80",
                                     "H=5,NQ=3,NKV=700,E=33", "H=4,HKV=1,NQ=1,NKV=3000,E=128"),
                     testing::ValuesIn(kDecoding)),
    [](const auto& of) { return test_name(std::get<0>(of.param) + "_" + std::get<1>(of.param)); });

TEST(Decode, TimingIsThatOfFullData) {
  for (const std::string& dataflow : kDecoding) {
    expect_same_counts(run("cluster3", "H=5,HKV=5,NQ=2,L=900+77,E=48", dataflow, true),
                       run("cluster3", "H=5,HKV=5,NQ=2,L=900+77,E=48", dataflow));
  }
}

// Partials cost DRAM what they are: rows of E + 3 words, written once and read once. Every piece reads its head's Q; K,
// V and O cross the bus once.
TEST(Decode, DramBytesAreExact) {
  const job::RunResult lean =
      run("a100-40gb", "H=32,NQ=1,NKV=65536,E=64", "lean", false, "bb=1,hh=1,nq=1,m0=128,n0=16,k0=32,kv=1,rb=1");
  const std::uint64_t heads = 32, kv = 2 * heads * 65536 * 64 * 2, q = heads * 64 * 2;
  // 8192 tiles in 200 x 38 + 16 x 37: cuts within a head, two pieces each time.
  std::uint64_t pieces = 0;
  for (std::uint64_t h = 0; h < heads; ++h) {
    const auto worker_of = [](std::uint64_t tile) { return tile < 7600 ? tile / 38 : 200 + (tile - 7600) / 37; };
    const std::uint64_t here = worker_of(h * 256 + 255) - worker_of(h * 256) + 1;
    if (here > 1) pieces += here;
  }
  const std::uint64_t partials = pieces * (64 + 3) * 4;
  ASSERT_EQ(pieces, 246U);  // all heads are shared
  EXPECT_EQ(2 * lean.sum("dram", "read_words"), pieces * 64 * 2 + kv + partials);
  EXPECT_EQ(2 * lean.sum("dram", "write_words"), q + partials);
}

TEST(Decode, GroupedQueriesAreTheSameBytesAsAHeadWithAllTheirRows) {
  const job::RunResult grouped = run("edge", "H=8,HKV=2,NQ=3,NKV=70,E=32", "mas", true);
  const job::RunResult folded = run("edge", "H=2,NQ=12,NKV=70,E=32", "mas", true);
  EXPECT_EQ(grouped.output, folded.output);
  EXPECT_NEAR(static_cast<double>(grouped.cycles), static_cast<double>(folded.cycles), 8);  // the job says the group
}

TEST(Decode, RaggedBatchesAreRefusedByOthers) {
  try {
    run("edge", "H=2,NQ=1,L=10+20,E=16", "mas");
    FAIL();
  } catch (const config::ConfigError& e) {
    EXPECT_NE(std::string(e.what()).find("allowed: lean, flash-decoding, flash2"), std::string::npos) << e.what();
  }
}

TEST(Decode, NetworksWithBadContextsAreRefused) {
  for (const char* net : {"H=2,NQ=1,L=10+,E=16", "H=2,NQ=1,L=0,E=16", "H=2,NQ=1,L=1e9,E=16", "B=3,H=2,NQ=1,L=1+2,E=16",
                          "H=8,HKV=3,NQ=1,NKV=4,E=16"}) {
    EXPECT_THROW(workload::load(net), config::ConfigError) << net;
  }
}

// Any machine, any shape: two partials of one head on one worker, workers without a tile, heads over many workers.
TEST(Decode, RandomShapesAndMachines) {
  std::uint64_t state = 99;
  const auto next = [&state](std::uint64_t n) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (state >> 33) % n;
  };
  for (int i = 0; i < 60; ++i) {
    MachineConfig machine = config::load_hardware("edge");
    machine.clusters = static_cast<std::uint32_t>(1 + next(4));
    machine.cores = static_cast<std::uint32_t>(1 + next(3));
    machine.l1.size_bytes = 96 << (10 + next(4));
    machine.dma.channels = static_cast<std::uint32_t>(2 + next(3));
    const std::uint64_t groups = 1 + next(3), kv_heads = 1 + next(4);
    std::string net = fmt::format("H={},HKV={},NQ={},E={}", groups * kv_heads, kv_heads, 1 + next(4), 1 + next(90));
    if (next(2) == 0) {
      net += fmt::format(",L={}+{}+{}", 1 + next(900), 1 + next(900), 1 + next(900));
    } else {
      net += fmt::format(",B={},NKV={}", 1 + next(3), 1 + next(1500));
    }
    const workload::Attention network = workload::load(net).attention();
    const job::Tensors tensors = job::random_tensors(network, static_cast<std::uint64_t>(i));
    for (const std::string& dataflow : kDecoding) {
      job::Schedule schedule = job::parse_dataflow(dataflow);
      schedule.tiling.set("nkv", static_cast<std::uint32_t>(next(3) == 0 ? 1 + next(network.seq_kv) : 0));
      runs::Runner runner(machine, config::load_energy(machine.energy), true);
      const std::string what = fmt::format("{} {} {} clusters {} cores {} L1, nkv {}", net, dataflow, machine.clusters,
                                           machine.cores, machine.l1.size_bytes, schedule.tiling["nkv"]);
      try {
        const job::RunResult r = runner.run(network, schedule, &tensors, {});
        EXPECT_TRUE(r.golden.passed) << what << ": " << r.golden.to_string();
        EXPECT_LE(r.max("l1", "peak_bytes"), machine.l1.size_bytes) << what;
        expect_tiles_once(r, 0);
      } catch (const std::runtime_error& e) {
        EXPECT_NE(std::string(e.what()).find("L1 is too small"), std::string::npos) << what << ": " << e.what();
      }
    }
  }
}

}  // namespace
}  // namespace attnvp::runs
