// `--dataflow auto` and the descent it ends with: what is given stays, and nothing gets slower.
#include "explore/automatic/automatic.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "explore/search/descent.h"
#include "platform/config/energy.h"
#include "platform/config/hardware.h"
#include "platform/config/network.h"
#include "platform/job/job.h"

namespace attnvp::explore {
namespace {

// A machine that is far from what the layer takes, so that tiles beside the chosen ones are tried.
MachineConfig machine() { return config::load_hardware("edge", {"clusters=2", "dram.bandwidth=2000GB/s"}); }

TEST(Automatic, KeepsWhatIsGiven) {
  const MachineConfig m = machine();
  const Automatic all = pick_dataflow(m, config::load_network("H=3,N=200,E=40"), job::parse_tiling("nq=48,nkv=40,kv=1"),
                                      config::load_energy(m.energy));
  const job::Tiling& tiling = all.schedule().tiling;
  EXPECT_EQ(tiling["nq"], 48U);
  EXPECT_EQ(tiling["nkv"], 40U);
  EXPECT_EQ(tiling["kv"], 1U);
}

TEST(Automatic, SaysWhatItsTilingTakesAndBeatsWhatItRan) {
  const MachineConfig m = machine();
  const config::EnergyTable energy = config::load_energy(m.energy);
  for (const char* net :
       {"H=3,N=200,E=40", "H=4,N=100,E=64,HKV=1,causal=1", "H=2,E=64,phase=decode,batch=4,cache=300"}) {
    const config::Network network = config::load_network(net);
    const Automatic all = pick_dataflow(m, network, {}, energy);
    const job::Contender& first = all.contenders.front();
    job::Runner runner(m, energy, false);
    EXPECT_EQ(runner.run(network.folded(), first.schedule, nullptr, {}).cycles, first.cycles) << net;
    EXPECT_GE(static_cast<double>(first.cycles), all.least_cycles) << net;
    std::set<std::string> once;
    for (const job::Contender& c : all.contenders) {
      EXPECT_TRUE(once.insert(c.open.text + " " + job::tiling_line(c.open.tiling)).second) << net << " " << c.open.text;
      if (c.cycles > 0) {
        EXPECT_LE(first.cycles, c.cycles) << net << " " << c.schedule.text;
      }
    }
  }
}

// What was only looked at, and seemed faster, was not beaten.
TEST(Automatic, SaysWhatItBeatAndWhatItLeft) {
  const auto contender = [](const char* dataflow, std::uint64_t cycles, double estimate) {
    job::Contender c;
    c.open = c.schedule = job::parse_dataflow(dataflow);
    c.cycles = cycles;
    c.estimate = estimate;
    return c;
  };
  const std::vector<job::Contender> all = {contender("mas", 1000, 990), contender("flat", 1100, 1100),
                                           contender("softpipe", 0, 1500), contender("lean", 0, 750)};
  EXPECT_EQ(
      (Automatic{all, 500, ""}.sentence()),
      "mas beats flat by 10.0%, and by what is estimated of them softpipe by 50.0%; not gone on with, though first "
      "looks promised less: lean (25.0%); no schedule of this layer takes less than 50.0% of its time");
  std::vector<job::Contender> alike = {all[0], contender("cascade", 0, 990), contender("flash2", 0, 1500),
                                       contender("weave", 0, 1500)};
  alike[1].same = "mas";
  alike[2].same = "lean";
  alike[3].same = "weave";  // another way of it
  EXPECT_EQ((Automatic{alike, 500, ""}.sentence()),
            "mas; cascade begins with the same commands as mas, flash2 as lean; no schedule of this layer takes less "
            "than 50.0% of its time");
  EXPECT_EQ((Automatic{{all[0]}, 500, ""}.sentence()),
            "mas alone takes the job; no schedule of this layer takes less than 50.0% of its time");
}

TEST(Descent, KeepsWhatIsGivenAndIsNoSlower) {
  const MachineConfig m = machine();
  const config::EnergyTable energy = config::load_energy(m.energy);
  const config::Network network = config::load_network("H=3,N=200,E=40");
  for (const char* dataflow : {"mas", "flat", "fusemax", "tileflow"}) {
    Problem p{m, network, job::parse_dataflow(dataflow), energy};
    p.schedule.tiling.set("nq", 24);
    const job::Schedule from = job::complete(m, network, p.schedule);
    job::Runner runner(m, energy, false);
    const std::uint64_t chosen = runner.run(network, from, nullptr, {}).cycles;
    const Descent d = descend(runner, p, from, 30);
    EXPECT_EQ(d.best.schedule.tiling["nq"], 24U) << dataflow;
    EXPECT_LE(d.best.cycles, chosen) << dataflow;
    EXPECT_LE(d.simulations, 30U) << dataflow;
    EXPECT_EQ(runner.run(network, d.best.schedule, nullptr, {}).cycles, d.best.cycles) << dataflow;
  }
}

}  // namespace
}  // namespace attnvp::explore
