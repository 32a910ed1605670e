// DRAM with banks in a platform: completions out of order, waits of plain initiators, counters, one result whatever was
// run before.
#include "models/memory/banked_dram/banked_dram.h"

#include <gtest/gtest.h>

#include "platform/machine/hardware.h"
#include "platform/run/job.h"
#include "tests/support/tuned.h"

namespace attnvp {
namespace {

MachineConfig machine(const std::vector<std::string>& settings = {}) {
  return config::load_hardware("edge-lpddr4", settings);
}

job::RunResult run(runs::Runner& runner, const char* network, const char* dataflow) {
  return runner.run(workload::load(network), job::parse_dataflow(dataflow), nullptr, {});
}

TEST(BankedDramModule, SettlesSizeAndBandwidth) {
  const MachineConfig m = machine();
  EXPECT_NEAR(m.dram.bytes_per_second, 29.85e9, 0.01e9);
  EXPECT_EQ(m.dram.size_bytes, std::uint64_t{8} << 30);
  const MachineConfig nearest = config::load_hardware("edge", {"dram.policy=banked", "dram.part=lpddr4-3200"});
  EXPECT_NEAR(nearest.dram.bytes_per_second, 25.6e9, 1e6);  // four channels of 6.4 GB/s come nearest to 30 GB/s
}

TEST(BankedDramModule, MovesEveryByteOnceAndCountsThem) {
  const MachineConfig m = machine();
  runs::Runner runner(m, config::load_energy(m.energy), false);
  const job::RunResult r = run(runner, "H=2,N=256,E=64", "mas");
  EXPECT_EQ(r.sum("dram", "read_words"), 3U * 2 * 256 * 64);
  EXPECT_EQ(r.sum("dram", "write_words"), 2U * 256 * 64);
  const auto of_channels = [&r](const char* counter) {
    std::uint64_t sum = 0;
    for (const char* channel : {"channel0", "channel1", "channel2", "channel3"}) sum += r.sum(channel, counter);
    return sum;
  };
  EXPECT_EQ(of_channels("bytes"), 4U * 2 * 256 * 64 * 2);
  EXPECT_GT(of_channels("row_hits"), 0U);
  EXPECT_GT(of_channels("activates"), 0U);
  EXPECT_LE(of_channels("precharges"), of_channels("activates"));
}

TEST(BankedDramModule, GoldenPassesAndTimingDataTakesAsLong) {
  const MachineConfig m = machine();
  const workload::Attention n = workload::load("H=2,N=192,E=64").attention();
  std::uint64_t cycles = 0;
  {
    runs::Runner full(m, config::load_energy(m.energy), true);
    const job::Tensors tensors = job::random_tensors(n, 1);
    const job::RunResult r = full.run(n, job::parse_dataflow("flat"), &tensors, {});
    EXPECT_TRUE(r.golden.passed);
    cycles = r.cycles;
  }
  runs::Runner timing(m, config::load_energy(m.energy), false);
  EXPECT_EQ(timing.run(n, job::parse_dataflow("flat"), nullptr, {}).cycles, cycles);
}

// The clock starts with the job: refreshes come at the same times whatever was run before.
TEST(BankedDramModule, JobsDoNotSeeOneAnother) {
  const MachineConfig m = machine();
  runs::Runner runner(m, config::load_energy(m.energy), false);
  const std::uint64_t first = run(runner, "H=2,N=256,E=64", "layerwise").cycles;
  run(runner, "H=1,N=96,E=32", "mas");
  EXPECT_EQ(run(runner, "H=2,N=256,E=64", "layerwise").cycles, first);
}

// No schedule can beat the peak of the buses, and refreshes and row misses cost something.
TEST(BankedDramModule, IsSlowerThanAnIdealBus) {
  const MachineConfig m = machine();
  MachineConfig ideal = m;
  ideal.dram.policy = "fixed";
  ideal.dram.latency_seconds = 0;
  std::uint64_t fixed = 0;
  {
    runs::Runner runner(ideal, config::load_energy(m.energy), false);
    fixed = run(runner, "H=4,N=512,E=32", "layerwise").cycles;
  }
  runs::Runner runner(m, config::load_energy(m.energy), false);
  EXPECT_GT(run(runner, "H=4,N=512,E=32", "layerwise").cycles, fixed);
}

}  // namespace
}  // namespace attnvp
