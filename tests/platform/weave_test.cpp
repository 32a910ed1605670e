// Weave's walks are the papers' schedules, to the cycle, where they are given the same tiles; and what a walk cannot do
// with is refused. That its values are right is the property tests' business, which draw it among the others.
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "platform/run/schedule.h"
#include "tests/platform/random_jobs.h"
#include "tests/platform/random_runs.h"
#include "tests/support/tuned.h"

namespace attnvp::runs {
namespace {

struct Walk {
  const char *name, *same;  // as that dataflow
  const char* further;      // which parameters that has besides, with any value
};
const Walk kWalks[] = {{"rows", "mas:overwrite=off", ""}, {"turns", "flat", "np=off,tb=2,sb=2"},
                       {"tiles", "cascade", ""},          {"array", "fusemax", ""},
                       {"alone", "flash2", ""},           {"shares", "lean", ""}};
constexpr std::uint32_t kMostGroups = 4;  // of mas and flat

// The other dataflow with all that weave chose.
job::Schedule same_tiles(const Walk& walk, const job::Schedule& woven) {
  job::Schedule other = job::parse_dataflow(walk.same);
  const firmware::Dataflow& dataflow = *firmware::find_dataflow(other.dataflow.c_str());
  other.tiling = *walk.further == '\0' ? job::Tiling{} : job::parse_tiling(walk.further);
  for (const firmware::Parameter* const* p = dataflow.parameters; *p != nullptr; ++p) {
    if (woven.tiling[(*p)->name] != 0) other.tiling.set((*p)->name, woven.tiling[(*p)->name]);
  }
  return other;
}

class WeaveWalk : public testing::TestWithParam<int> {};

TEST_P(WeaveWalk, IsThePapersScheduleToTheCycle) {
  const Walk& walk = kWalks[GetParam()];
  int same = 0;
  for (std::uint32_t number = 0; number < 24; ++number) {
    Random r(number * 2654435761U + 31);
    Case c;
    c.machine = random_machine(r);
    if (std::string(walk.name) == "array") c.machine.mac.resident_tiles = 12;
    c.network = random_network(r);
    if (r.one_in(2)) random_rules(r, c.network);
    config::check_machine(c.machine, {"random"});
    c.schedule = job::parse_dataflow("weave");
    c.schedule.tiling = job::parse_tiling(std::string("walk=") + walk.name);
    SCOPED_TRACE(c.text());
    const Attempt woven = attempt(c, false, nullptr);
    if (!woven.done) {
      EXPECT_TRUE(is_clean_refusal(woven.refusal)) << woven.refusal;
      continue;
    }
    const std::uint32_t kv = woven.result.schedule.tiling["kv"];
    if (number % 2 == 0) expect_counted(c, woven.result);
    if (GetParam() < 2 && kv != hal::kWord && kv > kMostGroups) continue;
    Case other = c;
    other.schedule = same_tiles(walk, woven.result.schedule);
    const Attempt paper = attempt(other, false, nullptr);
    ASSERT_TRUE(paper.done) << paper.refusal;
    EXPECT_EQ(paper.result.cycles, woven.result.cycles);
    EXPECT_EQ(paper.result.sum("dram", "read_words"), woven.result.sum("dram", "read_words"));
    ++same;
  }
  EXPECT_GE(same, 8);
}

INSTANTIATE_TEST_SUITE_P(All, WeaveWalk, testing::Range(0, 6),
                         [](const auto& of) { return std::string(kWalks[of.param].name); });

// Two cores at a row block: half as many lanes, and each array does half of the products.
TEST(Weave, PairsShareARowBlock) {
  const MachineConfig machine = config::load_hardware("edge");
  const workload::Attention network = workload::load("H=2,N=256,E=64").attention();
  job::Schedule schedule = job::parse_dataflow("weave");
  schedule.tiling = job::parse_tiling("walk=pairs,nq=64,nkv=64");
  runs::Runner runner(machine, config::load_energy("fusemax-45nm"), true);
  const job::Tensors tensors = job::random_tensors(network, 3);
  const job::RunResult r = runner.run(network, schedule, &tensors, {});
  EXPECT_TRUE(r.golden.passed) << r.golden.to_string();
  std::uint64_t scores = 0, products = 0;
  for (const job::CounterValue& c : r.counters) {
    if (c.name != "macs") continue;
    if (c.module.find("core0") != std::string::npos) scores = c.value;
    if (c.module.find("core1") != std::string::npos) products = c.value;
  }
  EXPECT_EQ(scores, 2ULL * 256 * 256 * 64);
  EXPECT_EQ(products, scores);
}

TEST(Weave, RefusesWhatAWalkHasNoUseFor) {
  const MachineConfig machine = config::load_hardware("edge", {"mac.resident_tiles=0", "cores=3"});
  const workload::Attention network = workload::load("H=4,N=128,E=32").attention();
  const std::string others = ",bb=1,nq=32,nkv=32,m0=16,n0=16,k0=32,kv=3";

  const std::vector<std::pair<std::string, std::string>> cases = {
      {"walk=array", "walk=array"},      {"walk=pairs", "walk=pairs"}, {"walk=rows,steps=2", "steps=2"},
      {"walk=alone,spare=2", "spare=2"}, {"walk=tiles,hh=2", "hh=2"},  {"walk=shares,rb=3", "rb=3"}};
  for (const auto& [tiling, named] : cases) {
    job::Schedule schedule = job::parse_dataflow("weave");
    schedule.tiling = job::parse_tiling(tiling + others);
    for (const char* left : {"hh=1", "rb=1", "spare=none"}) {  // what the case does not say
      const std::string key(left, std::strchr(left, '='));
      if (schedule.tiling[key] == 0) schedule.tiling.set(key, job::parse_tiling(left)[key]);
    }
    if (schedule.tiling["steps"] == 0) schedule.tiling.set("steps", 1);
    try {
      runs::complete(machine, network, schedule);
      ADD_FAILURE() << tiling << " is taken";
    } catch (const job::TilingError& why) {
      EXPECT_NE(std::string(why.what()).find("it cannot do with " + named), std::string::npos) << why.what();
    }
  }
}

TEST(Weave, NamesOfWalksAreReadAndTold) {
  const job::Tiling tiling = job::parse_tiling("walk=shares,nq=16");
  EXPECT_EQ(tiling["walk"], 7U);
  EXPECT_EQ(job::tiling_line(tiling), "nq=16 walk=shares");
  EXPECT_EQ(job::parse_tiling("walk=auto")["walk"], 0U);
  EXPECT_THROW(job::parse_tiling("walk=sideways"), config::ConfigError);
  EXPECT_THROW(job::parse_tiling("walk=2"), config::ConfigError);
}

// Rows of any length: with whole rows in L1 there is no tiling for these, with tiles there is.
TEST(Weave, GoesOnWhereRowsHaveNoRoom) {
  const MachineConfig machine = config::load_hardware("edge", {"l1.size=96KiB"});
  const workload::Attention network = workload::load("H=2,NQ=64,NKV=65536,E=64").attention();
  job::Schedule rows = job::parse_dataflow("weave");
  rows.tiling = job::parse_tiling("walk=rows");
  EXPECT_THROW(runs::complete(machine, network, rows), job::RunError);
  EXPECT_GT(runs::complete(machine, network, job::parse_dataflow("weave")).tiling["walk"], 3U);
}

}  // namespace
}  // namespace attnvp::runs
