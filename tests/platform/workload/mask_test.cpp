// Jobs under masks as the shipped machines run them: how much they save, that cores end together, and what is read
// once.
#include <algorithm>
#include <set>

#include "tests/platform/runs.h"
#include "tests/support/tuned.h"

namespace attnvp::runs {
namespace {

job::RunResult timed(const std::string& network, const std::string& dataflow, const std::string& tiling = "") {
  const MachineConfig machine = config::load_hardware("edge");
  runs::Runner runner(machine, config::load_energy(machine.energy), false);
  job::Schedule schedule = job::parse_dataflow(dataflow);
  if (!tiling.empty()) schedule.tiling = job::parse_tiling(tiling);
  return runner.run(workload::load(network), schedule, nullptr, {});
}

class CausalPrefill : public testing::TestWithParam<const char*> {};

TEST_P(CausalPrefill, TakesHalfTheTimeOnBothCores) {
  const job::RunResult full = timed("H=1,N=4096,E=64", GetParam()),
                       causal = timed("H=1,N=4096,E=64,causal=1", GetParam());
  EXPECT_LE(static_cast<double>(causal.cycles), 0.53 * static_cast<double>(full.cycles));
  const std::uint64_t one = causal.sum("core0.mac", "busy_cycles"), other = causal.sum("core1.mac", "busy_cycles");
  EXPECT_LE(static_cast<double>(std::max(one, other)), 1.01 * static_cast<double>(std::min(one, other)));
  EXPECT_EQ(causal.sum("core0.mac", "macs"), causal.sum("core1.mac", "macs"));
}
INSTANTIATE_TEST_SUITE_P(Dataflows, CausalPrefill, testing::Values("mas", "flat", "cascade", "tileflow"));

// Row blocks of 32: each meets the keys up to its last row's, in C and in O.
TEST(Masks, ComputeTilesThatHoldAnUnmaskedElement) {
  std::uint64_t scores = 0;
  for (std::uint64_t block = 0; block < 16; ++block) scores += 32 * 32 * (block + 1);
  for (const char* dataflow : {"mas", "flat", "softpipe", "layerwise", "tileflow"}) {
    EXPECT_EQ(timed("H=1,N=512,E=64,causal=1", dataflow, "nq=32,nkv=32").sum("mac", "macs"), 2 * 64 * scores);
  }
  // In a window of 64: two blocks before the own one.
  scores = 0;
  for (std::uint64_t block = 0; block < 16; ++block) scores += 32 * std::min<std::uint64_t>(32 * (block + 1), 63 + 32);
  EXPECT_EQ(timed("H=1,N=512,E=64,causal=1,window=64", "mas", "nq=32,nkv=32").sum("mac", "macs"), 2 * 64 * scores);
}

class GroupedQueries : public testing::TestWithParam<const char*> {};

TEST_P(GroupedQueries, ReadKeysAndValuesOnce) {
  const std::string dataflow = GetParam();
  const std::set<std::string> by_tiles = {"cascade", "fusemax", "lean", "flash2", "flash-decoding"};
  const char* const tiles = by_tiles.count(dataflow) != 0 ? "kv=16,nkv=64" : "";  // all of a head stay in L1
  for (const char* mask : {"", ",causal=1", ",causal=1,window=100"}) {
    for (const std::uint64_t n : {128, 512}) {
      const job::RunResult r = timed("H=32,HKV=8,E=64,N=" + std::to_string(n) + mask, dataflow, tiles);
      EXPECT_EQ(2 * r.sum("dram", "read_words"), 2 * 64 * (32 * n + 2 * 8 * n)) << n << mask;
      EXPECT_EQ(2 * r.sum("dram", "write_words"), 2 * 64 * 32 * n) << n << mask;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Dataflows, GroupedQueries,
                         testing::Values("mas", "flat", "tileflow", "cascade", "fusemax", "lean", "flash2",
                                         "flash-decoding"));

// A token behind a long cache in a window reads the window alone.
TEST(Masks, DecodeInAWindowReadsTheWindow) {
  for (const char* dataflow : {"mas", "flat", "cascade"}) {
    const job::RunResult r = timed("H=8,HKV=2,N=1,history=4000,E=64,causal=1,window=512,append=off", dataflow);
    EXPECT_EQ(2 * r.sum("dram", "read_words"), 2 * 64 * (8U + 2 * 2 * 512)) << dataflow;
  }
}

}  // namespace
}  // namespace attnvp::runs
