// layerwise:spills=fusemax: C and P go from the engines to DRAM and pass L1 by. Words of L1 against counts by hand.
#include <fmt/format.h>

#include <memory>

#include "platform/schedule/counter.h"
#include "tests/platform/runs.h"
#include "tests/support/tuned.h"

namespace attnvp::runs {
namespace {

struct Case {
  const char *hardware, *network, *tiling;
  std::uint64_t scores;  // of all heads
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.hardware << " " << c.network << " " << c.tiling; }

class Spills : public testing::TestWithParam<Case> {};

TEST_P(Spills, ScoresCrossL1OnlyOnTheirWayBack) {
  const Case& c = GetParam();
  const MachineConfig machine = config::load_hardware(c.hardware);
  const workload::Attention network = workload::load(c.network).attention();
  const job::Tensors tensors = job::random_tensors(network, 3);
  const config::EnergyTable energy = config::load_energy(machine.energy);
  auto runner = std::make_unique<runs::Runner>(machine, energy, true);
  const auto run = [&](const char* dataflow) {
    job::Schedule schedule = job::parse_dataflow(dataflow);
    schedule.tiling = job::parse_tiling(c.tiling);
    return runner->run(network, schedule, &tensors, {});
  };
  const job::RunResult by_default = run("layerwise"), in_l1 = run("layerwise:spills=l1"),
                       past = run("layerwise:spills=fusemax");
  expect_same_counts(by_default, in_l1);
  EXPECT_TRUE(past.golden.passed) << past.golden.to_string();
  EXPECT_EQ(past.output, in_l1.output);
  for (const char* counter : {"read_words", "write_words"}) {
    EXPECT_EQ(past.sum("l1", counter) + 2 * c.scores, in_l1.sum("l1", counter)) << counter << ", of C and of P";
    EXPECT_EQ(past.sum("dram", counter), in_l1.sum("dram", counter));
    EXPECT_EQ(past.sum("l0", counter), in_l1.sum("l0", counter));
  }
  EXPECT_EQ(past.sum("mac", "macs"), in_l1.sum("mac", "macs"));
  EXPECT_EQ(past.max("l1", "peak_bytes"), in_l1.max("l1", "peak_bytes"));
  EXPECT_LT(past.energy_pj("l1"), in_l1.energy_pj("l1"));

  const schedule::Counts counts = schedule::count(job::make_job(machine, network, past.schedule), machine);
  EXPECT_EQ(counts.l1.read, 2 * past.sum("l1", "read_words"));
  EXPECT_EQ(counts.l1.written, 2 * past.sum("l1", "write_words"));

  runner.reset();  // of whose modules there is one tree
  runner = std::make_unique<runs::Runner>(machine, energy, false);
  expect_same_counts(runner->run(network, past.schedule, nullptr, {}), past);
}

INSTANTIATE_TEST_SUITE_P(Shapes, Spills,
                         testing::Values(Case{"edge", "H=3,N=96,E=32", "", 3 * 96 * 96},
                                         Case{"edge", "H=2,NQ=50,NKV=77,E=24", "", 2 * 50 * 77},
                                         Case{"edge", "H=3,N=96,E=32", "nq=32,nkv=40,np=8", 3 * 96 * 96},
                                         Case{"edge", "H=3,N=96,E=32", "nq=32,nkv=40,np=8,kv=stream", 3 * 96 * 96},
                                         Case{"cluster3", "H=5,N=64,E=16", "", 5 * 64 * 64},
                                         Case{"fusemax-baseline", "H=2,N=512,E=64", "", 2 * 512 * 512}),
                         [](const auto& of) {
                           return test_name(
                               fmt::format("{}_{}_{}", of.param.hardware, of.param.network, of.param.tiling));
                         });

}  // namespace
}  // namespace attnvp::runs
