// Tiles of scores (firmware/runtime/attention/score_tiles.h), under layerwise and flat: when they are chosen, their
// values, their DRAM traffic, and their time against counts by hand.
#include <fmt/format.h>

#include <memory>

#include "tests/platform/random_jobs.h"
#include "tests/platform/runs.h"
#include "tests/support/tuned.h"

namespace attnvp::runs {
namespace {

const char* const kSideBySide = "flat:overlap=on";

job::Schedule schedule_of(const std::string& dataflow, const std::string& tiling) {
  job::Schedule schedule = job::parse_dataflow(dataflow);
  schedule.tiling = job::parse_tiling(tiling);
  return schedule;
}

job::RunResult run_timing(const MachineConfig& machine, const std::string& network, const std::string& tiling = "",
                          const std::string& dataflow = "layerwise") {
  runs::Runner runner(machine, config::load_energy(machine.energy), false);
  return runner.run(workload::load(network), schedule_of(dataflow, tiling), nullptr, {});
}

std::uint64_t moved(const job::RunResult& r) {
  return 2 * (r.sum("dram", "read_words") + r.sum("dram", "write_words"));
}

// One core of 4 x 4 PEs and 64 lanes at 1 GHz. Nothing has latency, L1's ports do not matter.
MachineConfig small_machine(double dram_bytes_per_cycle) {
  MachineConfig m;
  m.name = "small";
  m.clock_hz = 1e9;
  m.cores = 1;
  m.mac.rows = m.mac.columns = 4;
  m.mac.pipeline_cycles = m.vec.pipeline_cycles = 0;
  m.mac.queue_depth = m.vec.queue_depth = 64;
  m.vec.lanes = 64;
  m.vec.softmax_lane_cycles = 4;
  m.l1.size_bytes = 1 << 20;
  m.l1.banks = 64;
  m.l1.bank_bytes_per_cycle = m.l1.port_bytes_per_cycle = 4096;
  m.l1.ports = 3;
  m.dma.burst_bytes = 64;
  m.dma.outstanding = 16;
  m.dma.queue_depth = 64;
  m.dram.size_bytes = 64 << 20;
  m.dram.bytes_per_second = dram_bytes_per_cycle * m.clock_hz;
  m.dram.latency_seconds = 0;
  m.control.bus_bytes = 64;
  config::check_machine(m, {"small"});
  return m;
}

// 24 queries in blocks of 8, 192 keys in tiles of 64, E = 8; softmax of 4 rows at a time. In cycles:
constexpr char kShape[] = "H=1,NQ=24,NKV=192,E=8";
constexpr char kTiling[] = "nq=8,nkv=64,np=4,kv=1,rb=2";
constexpr std::uint64_t kTiles = 3 * 3, kSoftmaxes = 24 / 4;
constexpr std::uint64_t kTileMac = 2 * 16 * 8;        // of C: 8/4 x 64/4 passes, E steps; of O as many: 2 x 2, 64 steps
constexpr std::uint64_t kSoftmax = 4 * 192 * 4 / 64;  // 48
constexpr std::uint64_t kTileBytes = 8 * 64 * 2, kSoftmaxBytes = 4 * 192 * 2, kSubBlock = 64 * 8 * 2;
constexpr std::uint64_t kQBytes = 24 * 8 * 2, kKBytes = 192 * 8 * 2, kScoreBytes = 24 * 192 * 2;
constexpr std::uint64_t kAllBytes = 2 * kQBytes + 2 * kKBytes + 4 * kScoreBytes;
// Booting and three operators that begin when the one before has ended: some descriptors' way through the queues.
constexpr std::uint64_t kBootAndTurns = 60;

TEST(ScoreTilesByHand, OnlyDramMatters) {
  const job::RunResult r = run_timing(small_machine(1), kShape, kTiling);
  EXPECT_EQ(moved(r), kAllBytes);
  // The bus rests where only one engine can go on: when the last sub-block of K has come and its first tile is
  // multiplied, beside which there is one more block of Q to load; when the last rows are in softmax; when the last
  // tile of O is multiplied.
  const std::uint64_t form = kAllBytes + (kTileMac - kQBytes / 3) + kSoftmax + kTileMac;
  EXPECT_GE(r.cycles, form);
  EXPECT_LE(r.cycles, form + kBootAndTurns);
}

TEST(ScoreTilesByHand, OnlyEnginesMatter) {
  const job::RunResult r = run_timing(small_machine(64), kShape, kTiling);
  EXPECT_EQ(moved(r), kAllBytes);
  EXPECT_EQ(r.sum("mac", "slots"), 2 * kTiles * kTileMac * 16);
  // Each operator shows its first loads and its last store.
  const std::uint64_t c = (kQBytes / 3 + kSubBlock) / 64 + kTiles * kTileMac + kTileBytes / 64;
  const std::uint64_t p = kSoftmaxBytes / 64 + kSoftmaxes * kSoftmax + kSoftmaxBytes / 64;
  const std::uint64_t o = (kSubBlock + kTileBytes) / 64 + kTiles * kTileMac + kQBytes / 3 / 64;
  EXPECT_GE(r.cycles, c + p + o);
  // A tile of O begins when the sums of the one before are there: its first operands, a cycle or two, show.
  EXPECT_LE(r.cycles, c + p + o + kBootAndTurns + kTiles * 4);
}

// K and V streamed come once for every row block; nothing else changes.
TEST(ScoreTilesByHand, Streamed) {
  const job::RunResult r = run_timing(small_machine(1), kShape, "nq=8,nkv=64,np=4,kv=stream,rb=2");
  const std::uint64_t bytes = kAllBytes + 2 * (3 - 1) * kKBytes;
  EXPECT_EQ(moved(r), bytes);
  // The bus rests when the last tile of C is multiplied, whose keys came last; then as above.
  const std::uint64_t form = bytes + kTileMac + kSoftmax + kTileMac;
  EXPECT_GE(r.cycles, form);
  EXPECT_LE(r.cycles, form + kBootAndTurns);
}

// Side by side the bus rests at the end alone: when the last rows are in softmax, when the last tile of O is
// multiplied.
TEST(ScoreTilesByHand, SideBySideOnlyDramMatters) {
  const job::RunResult r = run_timing(small_machine(1), kShape, kTiling, kSideBySide);
  EXPECT_EQ(moved(r), kAllBytes);
  const std::uint64_t form = kAllBytes + kSoftmax + kTileMac;
  EXPECT_GE(r.cycles, form);
  EXPECT_LE(r.cycles, form + kBootAndTurns);
}

// The MAC engine never rests: C of one row block hides softmax of another.
TEST(ScoreTilesByHand, SideBySideOnlyTheMacEngineMatters) {
  const job::RunResult r = run_timing(small_machine(64), kShape, kTiling, kSideBySide);
  EXPECT_EQ(moved(r), kAllBytes);
  EXPECT_EQ(r.sum("mac", "slots"), 2 * kTiles * kTileMac * 16);
  const std::uint64_t form = (kQBytes / 3 + kSubBlock) / 64 + 2 * kTiles * kTileMac + kQBytes / 3 / 64;
  EXPECT_GE(r.cycles, form);
  EXPECT_LE(r.cycles, form + kBootAndTurns + kTiles * 4);
}

// Nor does VEC, where softmax takes longest, from the first row block's C to the last one's O.
TEST(ScoreTilesByHand, SideBySideOnlyVecMatters) {
  MachineConfig m = small_machine(64);
  m.vec.softmax_lane_cycles *= 32;
  const job::RunResult r = run_timing(m, kShape, kTiling, kSideBySide);
  const std::uint64_t c = (kQBytes / 3 + kSubBlock) / 64 + 3 * kTileMac + kTileBytes / 64;
  const std::uint64_t o = (kSubBlock + kTileBytes) / 64 + 3 * kTileMac + kQBytes / 3 / 64;
  const std::uint64_t form = c + kSoftmaxBytes / 64 + kSoftmaxes * kSoftmax * 32 + kSoftmaxBytes / 64 + o;
  EXPECT_GE(r.cycles, form);
  EXPECT_LE(r.cycles, form + kBootAndTurns);
}

// Where whole rows are faster they are kept, as far as L1 has space for one on each core.
TEST(ScoreTiles, AreChosenWhereTheyAreFaster) {
  const MachineConfig baseline = config::load_hardware("fusemax-baseline"), edge = config::load_hardware("edge");
  const auto cycles = [](const MachineConfig& m, const char* network, const char* tiling, const char* dataflow) {
    return run_timing(m, network, tiling, dataflow).cycles;
  };
  // A search ends within 2% of the bound.
  for (const char* shape : {"H=8,N=512,E=64", "H=1,NQ=64,NKV=24000,E=64", "H=1,NQ=64,NKV=32000,E=64"}) {
    const auto whole_rows = static_cast<double>(cycles(edge, shape, "np=off", "layerwise"));
    EXPECT_LE(static_cast<double>(cycles(edge, shape, "", "layerwise")), 1.02 * whole_rows) << shape;
  }
  for (const char* dataflow : {"flat", kSideBySide}) {
    const char* const shape = "H=1,NQ=64,NKV=64000,E=64";
    const auto whole_rows = static_cast<double>(cycles(edge, shape, "np=off", dataflow));
    EXPECT_LE(static_cast<double>(cycles(edge, shape, "", dataflow)), 1.02 * whole_rows) << dataflow;
  }
  const char* const shape = "H=1,NQ=4096,NKV=65536,E=128";
  EXPECT_LE(cycles(baseline, shape, "", "flat"), cycles(baseline, shape, "np=off", "flat"));
  EXPECT_EQ(run_timing(edge, "H=1,NQ=64,NKV=64000,E=64", "np=3", kSideBySide).schedule.tiling.used("np"), 3U);

  for (const char* longer : {"H=1,NQ=4,NKV=1000000,E=64", "H=1,NQ=2,NKV=1310720,E=64"}) {
    EXPECT_GT(run_timing(edge, longer).schedule.tiling.used("np"), 0U) << longer;
  }
  try {  // 5 MiB are a row of 2,621,440 scores on one core
    run_timing(edge, "H=1,NQ=2,NKV=2621441,E=64");
    ADD_FAILURE() << "a longer row fits";
  } catch (const std::runtime_error& e) {
    EXPECT_NE(std::string(e.what()).find("L1 is too small: the schedule needs at least"), std::string::npos);
  }
}

TEST(ScoreTiles, RefuseRowsOfSoftmaxThatAreNotTheirs) {
  const MachineConfig edge = config::load_hardware("edge");
  const workload::Attention network = workload::load("H=1,N=64,E=16").attention();
  for (const auto& [dataflow, np, sentence] : {std::tuple{"mas", 4U, "mas has no 'np'"},
                                               {"fusemax", 4U, "fusemax has no 'np'"},
                                               {"flat", 4U, "it cannot do with np=4"},
                                               {"flat:prefetch=off,overlap=on", 4U, "it cannot do with np=4"},
                                               {"layerwise", 65U, "np=65 is larger than the layer"}}) {
    runs::Runner runner(edge, config::load_energy(edge.energy), false);
    job::Schedule schedule = job::parse_dataflow(dataflow);
    schedule.tiling.set("np", np);
    try {
      runner.run(network, schedule, nullptr, {});
      ADD_FAILURE() << dataflow << " takes np";
    } catch (const std::runtime_error& e) {
      EXPECT_NE(std::string(e.what()).find(sentence), std::string::npos) << e.what();
    }
  }
}

job::Tiling random_tiles(Random& r, const workload::Attention& n) {
  job::Tiling t;
  t.set("np", r.from(1, std::min(n.seq_q, 20U)));
  if (r.one_in(3)) t.set("bb", r.from(1, n.batch));
  if (r.one_in(3)) t.set("hh", r.from(1, n.heads));
  if (r.one_in(2)) t.set("nq", r.from(1, n.seq_q));
  if (r.one_in(2)) t.set("nkv", r.from(1, n.seq_kv));
  if (r.one_in(2)) t.set("kv", r.one_in(2) ? hal::kWord : r.from(1, 3));
  if (r.one_in(3)) t.set("rb", r.from(1, 3));
  return t;
}

class RandomScoreTiles : public testing::TestWithParam<std::tuple<std::string, std::uint32_t>> {};

// Values do not depend on how scores are cut, counts do not depend on data, DRAM moves nothing twice but K and V.
TEST_P(RandomScoreTiles, AreGolden) {
  const auto [dataflow, shard] = GetParam();
  int fit = 0;
  for (std::uint32_t i = 0; i < 20; ++i) {
    Random r((shard * 20 + i) * 2654435761U + 7);
    const MachineConfig machine = random_machine(r);
    const workload::Attention n = random_network(r);
    job::Schedule schedule = job::parse_dataflow(dataflow);
    schedule.tiling = random_tiles(r, n);
    SCOPED_TRACE(fmt::format("case {}: B={},H={},NQ={},NKV={},E={}\n{}", shard * 20 + i, n.batch, n.heads, n.seq_q,
                             n.seq_kv, n.emb, config::to_yaml(machine)));
    config::check_machine(machine, {"random"});
    const job::Tensors tensors = job::random_tensors(n, 7);
    const config::EnergyTable energy = config::load_energy(machine.energy);
    job::RunResult full;
    try {
      runs::Runner runner(machine, energy, true);
      full = runner.run(n, schedule, &tensors, {});
    } catch (const std::runtime_error& e) {
      EXPECT_NE(std::string(e.what()).find(" is too small: the schedule needs at least"), std::string::npos)
          << e.what();
      continue;
    }
    ++fit;
    EXPECT_EQ(full.schedule.tiling.used("np"), schedule.tiling.used("np"));
    EXPECT_TRUE(full.golden.passed) << full.golden.to_string();
    const DramBytes least = least_dram_bytes(n, "layerwise");
    EXPECT_EQ(full.sum("dma", "write_bytes"), least.write);
    EXPECT_GE(full.sum("dma", "read_bytes"), least.read);
    if (machine.clusters == 1 && full.schedule.tiling["kv"] != hal::kWord) {
      EXPECT_EQ(full.sum("dma", "read_bytes"), least.read);
    }
    EXPECT_EQ(full.sum("mac", "macs"), 2ULL * n.batch * n.heads * n.seq_q * n.seq_kv * n.emb);
    EXPECT_LE(full.max("l1", "peak_bytes"), machine.l1.size_bytes);
    {
      runs::Runner timing(machine, energy, false);
      expect_same_counts(timing.run(n, schedule, nullptr, {}), full);
      schedule.tiling = full.schedule.tiling;  // what was chosen, given
      expect_same_counts(timing.run(n, schedule, nullptr, {}), full);
    }
    // Whole rows in turn, where there is room for them.
    MachineConfig large = machine;
    large.l1.size_bytes = 64 << 20;
    large.l0.size_bytes = 64 << 10;
    runs::Runner rows(large, energy, true);
    const job::RunResult whole = rows.run(n, schedule_of("layerwise", "np=off"), &tensors, {});
    EXPECT_EQ(whole.schedule.tiling.used("np"), 0U);
    EXPECT_TRUE(whole.output == full.output) << "other values than by whole rows";
    if (HasFailure()) return;
  }
  EXPECT_GE(fit, 5) << "too few cases fit their machine";
}
#ifdef ATTNVP_LONG
const auto kShards = testing::Range(1U, 100U);
#else
const auto kShards = testing::Range(0U, 1U);
#endif
std::string case_name(const testing::TestParamInfo<std::tuple<std::string, std::uint32_t>>& of) {
  return fmt::format("{}_{}", test_name(std::get<0>(of.param)), std::get<1>(of.param));
}
INSTANTIATE_TEST_SUITE_P(Shards, RandomScoreTiles,
                         testing::Combine(testing::Values<std::string>("layerwise", kSideBySide), kShards), case_name);

}  // namespace
}  // namespace attnvp::runs
