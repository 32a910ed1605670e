// What a run is advised to change: what its commands need, not what its engines are held for.
#include <gtest/gtest.h>

#include <algorithm>

#include "platform/machine/hardware.h"
#include "platform/report/report.h"
#include "platform/run/job.h"
#include "platform/run/results/accounting.h"
#include "tests/support/tuned.h"

namespace attnvp {
namespace {

struct Case {
  std::vector<std::string> settings;
  std::string network, dataflow, tiling;
};

struct Advised {
  MachineConfig machine;
  job::RunResult result;
};

job::RunResult run(const MachineConfig& machine, const std::string& network, job::Schedule schedule) {
  job::Runner runner(machine, config::load_energy(machine.energy), false);
  return runner.run(workload::load(network), schedule, nullptr, {});
}

Advised advised(const Case& c) {
  Advised a{config::load_hardware("edge", c.settings), {}};
  job::Schedule schedule = job::parse_dataflow(c.dataflow);
  schedule.tiling = job::parse_tiling(c.tiling);
  a.result = run(a.machine, c.network, runs::complete(a.machine, workload::load(c.network), schedule));
  a.result.bound.advice = job::advice_for(a.result, a.machine);
  return a;
}

const job::Advice* find(const std::vector<job::Advice>& all, const std::string& key) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const job::Advice& a) { return a.key == key; });
  return found == all.end() ? nullptr : &*found;
}

double speedup(const Advised& a, const job::Advice& advice) {
  MachineConfig machine = a.machine;
  for (const job::Advice::AdvisedSetting& s : advice.settings)
    config::apply_setting(machine, {s.key, s.value, {"advised"}});
  config::finish_machine(machine, {"advised"});
  const job::RunResult faster = run(machine, a.result.network.name(), a.result.schedule);
  return static_cast<double>(a.result.cycles) / static_cast<double>(faster.cycles);
}

// Row blocks of four rows use a quarter of an array of 16: one of 32 computes them no sooner.
TEST(Advice, NamesTheTilingWhereEdgesAreWhatTheArrayIsHeldFor) {
  const Advised a = advised({{}, "H=2,N=256,E=64", "mas", "nq=4"});
  const job::Bound& b = a.result.bound;
  ASSERT_EQ(b.most.resource, "mac");
  EXPECT_NEAR(b.ragged_cycles / b.most.cycles, 0.75, 0.01);
  ASSERT_FALSE(b.advice.empty());
  const job::Advice& first = b.advice.front();
  EXPECT_EQ(first.key, "tiling");
  EXPECT_FALSE(first.same_tiling);
  EXPECT_NE(first.reason.find("75% of the busiest engine's work at ragged edges"), std::string::npos) << first.reason;
  EXPECT_EQ(find(b.advice, "mac.rows"), nullptr) << "it changes nothing";
  const Advised whole = advised({{}, "H=2,N=256,E=64", "mas", "nq=16"});
  const double better = static_cast<double>(a.result.cycles) / static_cast<double>(whole.result.cycles);
  EXPECT_GT(better, 1.5);
  EXPECT_LE(better, first.at_most);
  const std::string text = report::to_text(a.result, "edge");
  EXPECT_NE(text.find("% ragged edges; with another tiling at most"), std::string::npos) << text;
}

TEST(Advice, NamesTheArrayWhereItIsUsed) {
  const Advised a = advised({{}, "H=2,N=512,E=64", "mas", "nq=64"});
  const std::vector<job::Advice>& advice = a.result.bound.advice;
  ASSERT_FALSE(advice.empty());
  EXPECT_EQ(a.result.bound.most.resource, "mac");
  EXPECT_EQ(advice.front().key.substr(0, 4), "mac.");
  EXPECT_GT(speedup(a, advice.front()), 1.2);
}

TEST(Advice, NamesWhatARunWaitsFor) {
  const Advised dram = advised({{"dram.bandwidth=4 GB/s"}, "H=2,N=256,E=64", "mas", ""});
  EXPECT_EQ(dram.result.bound.advice.front().key, "dram.bandwidth");
  const Advised lanes = advised({{"vec.lanes=16"}, "H=2,N=256,E=64", "mas", ""});
  EXPECT_EQ(lanes.result.bound.advice.front().key, "vec.lanes");
  const Advised bursts =
      advised({{"dma.outstanding=1", "dma.burst=256 B", "dram.latency=2 us"}, "H=2,N=256,E=64", "mas", ""});
  EXPECT_EQ(bursts.result.bound.advice.front().key, "dma.outstanding");
  for (const char* key : {"dma.outstanding", "dma.burst"}) {
    const job::Advice* const advice = find(bursts.result.bound.advice, key);
    ASSERT_NE(advice, nullptr) << key;
    EXPECT_GT(speedup(bursts, *advice), 1.9) << key;
    EXPECT_LE(speedup(bursts, *advice), advice->at_most) << key;
    EXPECT_LT(advice->at_most, 2.1) << key;
  }
}

// Settings are ready for --set, and do what the factor says; what is promised is kept.
TEST(Advice, IsDataThatCanBeTried) {
  for (const char* dataflow : {"layerwise", "flat", "tileflow", "mas", "fusemax", "cascade"}) {
    const Advised a = advised({{}, "H=3,N=192,E=40", dataflow, ""});
    ASSERT_FALSE(a.result.bound.advice.empty()) << dataflow;
    for (const job::Advice& advice : a.result.bound.advice) {
      EXPECT_EQ(advice.settings.empty(), advice.key == "tiling");
      EXPECT_TRUE(advice.settings.empty() || advice.settings.front().key == advice.key);
      EXPECT_GE(advice.at_most, 1);
      EXPECT_FALSE(advice.reason.empty());
      EXPECT_LE(speedup(a, advice), advice.at_most * (1 + 1e-9)) << dataflow << " " << advice.words;
    }
  }
}

}  // namespace
}  // namespace attnvp
