// Work handed out as a GPU does it: thread blocks one after the other, tiles padded, pieces merged by a kernel of its
// own.
#include <gtest/gtest.h>

#include "models/control/control_processor/control_processor.h"
#include "tests/platform/runs.h"
#include "tests/support/tuned.h"

namespace attnvp::runs {
namespace {

struct Case {
  const char *net, *dataflow;
  std::uint32_t nq, kv;
  std::uint32_t nkv = 64;
};

job::RunResult run(const MachineConfig& machine, const Case& c, bool full) {
  const workload::Attention network = workload::load(c.net).attention();
  job::Schedule schedule = job::parse_dataflow(c.dataflow);
  schedule.tiling.set("nq", c.nq);
  schedule.tiling.set("nkv", c.nkv);
  schedule.tiling.set("m0", 32);
  schedule.tiling.set("n0", 64);
  schedule.tiling.set("k0", 16);
  schedule.tiling.set("kv", c.kv);
  runs::Runner runner(machine, config::load_energy(machine.energy), full);
  if (!full) return runner.run(network, schedule, nullptr, {});
  const job::Tensors tensors = job::random_tensors(network, 1);
  return runner.run(network, schedule, &tensors, {});
}

MachineConfig machine() { return config::load_hardware("edge", {"clusters=3", "cores=1", "dma.channels=4"}); }

class ThreadBlocks : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(
    All, ThreadBlocks,
    testing::Values(Case{"H=4,NQ=4,NKV=500,E=64", "flash-decoding:grid=blocks", 4,
                         1},  // 4 rows, the last tile of 52 keys
                    Case{"H=2,NQ=4,NKV=500,E=64", "flash-decoding:grid=blocks,share=2,kernels=2", 4, 2},
                    Case{"H=4,HKV=2,NQ=100,NKV=150,E=64,causal=1", "flash2:grid=blocks", 32, 1},
                    Case{"H=4,HKV=2,NQ=100,NKV=150,E=64,causal=1", "flash2:grid=blocks,share=3", 32, 2},
                    // Every head has its own scales, whatever is launched; sub-tiles may be larger than tiles.
                    Case{"H=3,NQ=4,NKV=128,E=64,type=int8", "flash2:kernels=2", 4, 1},
                    Case{"H=3,NQ=4,NKV=128,E=64,type=int8", "flash-decoding:grid=blocks", 4, 1},
                    Case{"H=2,NQ=40,NKV=150,E=64,causal=1,window=30", "flash2:grid=blocks", 32, 1, 40},
                    Case{"H=4,HKV=2,NQ=100,NKV=150,E=64,causal=1", "flash2:grid=heads", 32, 1},
                    Case{"H=4,HKV=2,NQ=100,NKV=150,E=64,causal=1", "flash2:grid=steps", 32, 2},
                    Case{"H=2,NQ=40,NKV=150,E=64", "flash2:grid=steps,share=2,kernels=1", 32, 1, 40}));

TEST_P(ThreadBlocks, PassGoldenAndTakeEquallyLongWithoutData) {
  const job::RunResult full = run(machine(), GetParam(), true);
  EXPECT_TRUE(full.golden.passed);
  EXPECT_EQ(run(machine(), GetParam(), false).cycles, full.cycles);
}

// 8 heads on 3 clusters, whole contexts: the longest worker has three blocks.
TEST(ThreadBlockLaunch, TakesItsTimeForEveryBlockOfAWorker) {
  MachineConfig slow = machine();
  const Case c{"H=8,NQ=4,NKV=128,E=64", "flash2:grid=blocks", 4, 1};
  const std::uint64_t without = run(slow, c, false).cycles;
  slow.own<LaunchConfig>().block_seconds = 1e-6;
  const std::uint64_t with = run(slow, c, false).cycles;
  EXPECT_NEAR(static_cast<double>(with - without), 3 * 3750, 0.1 * 3750);
}

// Four row blocks of 1, 2, 3 and 4 tiles a head. If four groups take turns, blocks of equal rows of all heads go to the
// same group; if heads come first, a group has whole heads.
TEST(ThreadBlockGroups, TakeTurns) {
  const auto most = [](const std::string& heads, const char* grid, const std::string& clusters, const char* groups) {
    const MachineConfig m =
        config::load_hardware("edge", {"clusters=" + clusters, "cores=1", std::string("cluster_groups=") + groups});
    const std::string net = "H=" + heads + ",NQ=128,NKV=128,E=16,causal=1",
                      dataflow = std::string("flash2:grid=") + grid;
    return run(m, {net.c_str(), dataflow.c_str(), 32, 1, 32}, false).statistic("partition.max");
  };
  EXPECT_EQ(most("4", "blocks", "4", "1"), 12U);  // 40 tiles, each block to the cluster that is done first
  EXPECT_EQ(most("4", "blocks", "4", "4"), 16U);
  EXPECT_EQ(most("4", "heads", "4", "4"), 10U);
  EXPECT_EQ(most("4", "blocks", "8", "4"), 8U);  // two clusters a group
  EXPECT_EQ(most("4", "blocks", "8", "8"), 8U);  // every other head
  // More blocks than are dealt one by one: 2,100 of each kind.
  EXPECT_EQ(most("2100", "blocks", "8", "4"), 1050U * 4);
}

// 8 heads on 3 clusters with 8 tiles each: the longest worker has 24 steps. Transfers hide behind longer steps.
TEST(StepLaunch, TakesItsTimeForEveryTileOfAWorker) {
  MachineConfig slow = machine();
  const Case c{"H=8,NQ=4,NKV=512,E=64", "flash2:grid=steps", 4, 2};
  slow.own<LaunchConfig>().block_seconds = 8e-6;
  const std::uint64_t once = run(slow, c, false).cycles;
  slow.own<LaunchConfig>().block_seconds = 9e-6;
  EXPECT_NEAR(static_cast<double>(run(slow, c, false).cycles - once), 24 * 3750, 0.1 * 3750);
}

// Launched besides: each takes the launch time, as the first kernel does; where pieces are merged, one kernel more.
TEST(KernelLaunch, TakesItsTimeForEveryKernel) {
  MachineConfig slow = machine();
  const auto extra = [&](const char* dataflow) {
    const Case c{"H=2,NQ=4,NKV=512,E=64", dataflow, 4, 1};
    slow.own<LaunchConfig>().seconds = 0;
    const std::uint64_t without = run(slow, c, false).cycles;
    slow.own<LaunchConfig>().seconds = 1e-6;
    return run(slow, c, false).cycles - without;
  };
  EXPECT_EQ(extra("flash2:grid=blocks"), 3750U);
  EXPECT_EQ(extra("flash2:grid=blocks,kernels=2"), 3 * 3750U);
  EXPECT_NEAR(static_cast<double>(extra("flash-decoding:grid=blocks,kernels=1")), 3 * 3750, 100);
}

}  // namespace
}  // namespace attnvp::runs
