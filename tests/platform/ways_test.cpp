// A dataflow of several ways is chosen for as the dataflows are that make the same commands, and held against them by
// runs on a machine beside whichever is elaborated.
#include "platform/job/ways.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "platform/config/energy.h"
#include "platform/config/hardware.h"
#include "platform/config/network.h"
#include "platform/job/contest.h"
#include "platform/job/job.h"
#include "platform/job/trial.h"

namespace attnvp::job {
namespace {

std::vector<std::string> dataflows_of(const std::string& tiling) {
  Schedule schedule = parse_dataflow("weave");
  schedule.tiling = parse_tiling(tiling);
  std::vector<std::string> names;
  for (const Way& way : ways_of(schedule)) names.push_back(way.same.dataflow);
  return names;
}

TEST(Ways, AreTheDataflowsThatMakeTheSameCommands) {
  const std::vector<std::string> all = {"mas", "weave", "flat", "cascade", "fusemax", "flash2", "lean"};
  EXPECT_EQ(dataflows_of("nq=16,kv=2"), all);
  // What such a dataflow has no parameter for is chosen in weave's own words.
  const std::vector<std::string> stepping = {"weave", "weave", "weave", "cascade", "fusemax", "weave", "weave"};
  EXPECT_EQ(dataflows_of("nq=16,steps=2"), stepping);
  EXPECT_EQ(dataflows_of("steps=1,spare=none"), all);
}

TEST(Ways, KeepWhatIsGiven) {
  Schedule schedule = parse_dataflow("weave");
  schedule.tiling = parse_tiling("nq=16,nkv=24");
  const Schedule chosen = complete(config::load_hardware("edge"), config::load_network("H=2,N=96,E=32"), schedule);
  EXPECT_EQ(chosen.tiling["nq"], 16U);
  EXPECT_EQ(chosen.tiling["nkv"], 24U);
  EXPECT_NE(chosen.tiling["walk"], 0U);
}

// Each of these with its own tiles, and weave with the walk that it chooses, are run.
TEST(Ways, AreNoSlowerThanWhatTheyAreMadeOf) {
  struct Case {
    std::vector<std::string> keys;
    const char* network;
  };
  const std::vector<Case> cases = {
      {{}, "H=3,N=100,E=32,causal=1"},
      {{"cores=1", "vec.lanes=16", "l1.size=96KiB"}, "H=2,N=160,E=48"},
      {{"clusters=2", "mac.rows=32", "mac.columns=32", "dram.bandwidth=8GB/s"}, "H=4,N=128,E=64,HKV=1"},
      {{"cores=4", "mac.resident_tiles=8", "l1.size=256KiB"}, "H=2,N=256,E=32"},
      {{"clusters=4", "cores=1", "dram.bandwidth=500GB/s"}, "H=2,E=32,phase=decode,batch=2,cache=200"}};
  for (const Case& c : cases) {
    const MachineConfig machine = config::load_hardware("edge", c.keys);
    const config::Network network = config::load_network(c.network).folded();
    Trial trial(machine);
    const Schedule woven = parse_dataflow("weave");
    const std::uint64_t cycles = trial.cycles(network, complete(machine, network, woven));
    for (const Way& way : ways_of(woven)) {
      std::uint64_t other = 0;
      try {
        if (way.another()) other = trial.cycles(network, complete(machine, network, way.same));
      } catch (const RunError&) {  // it does not fit
      } catch (const config::ConfigError&) {
      }
      if (other > 0) {
        EXPECT_LE(100 * cycles, 101 * other) << c.network << " beside " << way.same.dataflow;
      }
    }
  }
}

// A machine is made, run and gone while another one is there, of which nobody can tell.
TEST(Trial, LeavesOtherMachinesAsTheyAre) {
  const MachineConfig machine = config::load_hardware("edge");
  const config::Network network = config::load_network("H=2,N=96,E=32");
  const config::EnergyTable energy = config::load_energy(machine.energy);
  Schedule schedule = parse_dataflow("mas");
  schedule = complete(machine, network, schedule);
  const Tensors tensors = random_tensors(network, 7);
  Runner alone(machine, energy, true);
  const Result before = alone.run(network, schedule, &tensors, {});
  {
    Trial inner(config::load_hardware("edge", {"clusters=2", "clock=1GHz"}));
    EXPECT_GT(inner.cycles(network, schedule), 0U);
    Trial innermost(machine);
    EXPECT_EQ(innermost.cycles(network, schedule), before.cycles);
  }
  const Result after = alone.run(network, schedule, &tensors, {});
  EXPECT_EQ(after.cycles, before.cycles);
  EXPECT_EQ(after.output, before.output);
  EXPECT_TRUE(after.golden.passed);
}

TEST(Contest, SaysWhyNobodyTakesTheJob) {
  const MachineConfig machine = config::load_hardware("edge", {"l1.size=65KiB"});
  const config::Network network = config::load_network("H=1,N=64,E=16384");
  try {
    complete(machine, network, parse_dataflow("weave"));
    ADD_FAILURE() << "it fits";
  } catch (const RunError& why) {
    EXPECT_NE(std::string(why.what()).find("with weave: cluster 0's firmware: L1 is too small"), std::string::npos)
        << why.what();
  }
}

TEST(Contest, SaysTheSameOfSeveralOnce) {
  const MachineConfig machine = config::load_hardware("edge", {});
  const config::Network network = config::load_network("H=2,N=256,E=64");
  Contest contest(machine, network);
  std::string alone;
  for (const char* name : {"mas", "flat", "fusemax"}) {
    Schedule open = parse_dataflow(name);
    open.tiling = parse_tiling("nkv=100000");
    EXPECT_FALSE(contest.add(open));
    if (alone.empty()) alone = contest.left_out();
  }
  EXPECT_NE(alone.find("nkv=100000 is larger"), std::string::npos) << alone;
  EXPECT_EQ(contest.left_out(), alone);
  EXPECT_THROW(contest.refuse_all(), std::runtime_error);
}

TEST(Contest, EndsWithTheFastestFirst) {
  const MachineConfig machine = config::load_hardware("edge", {"cores=1"});
  const config::Network network = config::load_network("H=2,N=128,E=32");
  Contest contest(machine, network);
  for (const char* name : {"layerwise", "flat", "mas", "fusemax"}) EXPECT_TRUE(contest.add(parse_dataflow(name)));
  EXPECT_FALSE(contest.add(parse_dataflow("chain")));  // for layers without softmax
  EXPECT_NE(contest.left_out().find("chain"), std::string::npos);
  contest.decide(true);
  const std::vector<Contender>& all = contest.contenders();
  ASSERT_EQ(all.size(), 4U);
  EXPECT_GT(all[0].cycles, 0U);
  Trial trial(machine);
  for (const Contender& c : all) {
    if (c.cycles == 0) continue;
    EXPECT_EQ(trial.cycles(network, c.schedule), c.cycles) << c.schedule.text;
    EXPECT_GE(c.cycles, all[0].cycles) << c.schedule.text;
    EXPECT_GE(static_cast<double>(c.cycles), contest.least_cycles()) << c.schedule.text;
  }
}

// What it takes is limited by what it finds: the same every time, not far over it, and much less than without a limit.
TEST(Contest, EndsWithinItsLimit) {
  const MachineConfig machine =
      config::load_hardware("edge", {"clusters=4", "cores=4", "mac.rows=32", "mac.columns=32", "vec.lanes=64",
                                     "l0.size=48KiB", "l1.size=256KiB", "dram.bandwidth=30GB/s"});
  for (const char* net : {"H=2,N=256,E=32,HKV=1", "H=2,N=384,E=32,HKV=1"}) {
    const config::Network network = config::load_network(net);
    double spent[3] = {};
    Schedule found[3];
    for (int i = 0; i < 3; ++i) {
      Contest contest(machine, network);
      if (i < 2) contest.limit(4);
      for (const char* name : {"layerwise", "flat", "mas", "fusemax", "lean"}) contest.add(parse_dataflow(name));
      contest.decide(true);
      const Contender& first = contest.contenders().front();
      EXPECT_GT(first.cycles, 0U) << net;
      using mapping::Effort;
      const double run = Effort::of_a_program(first.commands);
      spent[i] = contest.replays().effort().spent();
      EXPECT_TRUE(i == 2 || spent[i] < 8 * run) << net << ": " << spent[i];
      found[i] = first.schedule;
    }
    EXPECT_EQ(spent[0], spent[1]) << net;
    EXPECT_LT(2 * spent[0], spent[2]) << net;
    EXPECT_EQ(found[0].text, found[1].text) << net;
    EXPECT_TRUE(found[0].tiling == found[1].tiling) << net;
  }
}

// What begins like one before is not gone on with; another one that is faster comes first.
TEST(Contest, ChallengesOnce) {
  const MachineConfig machine =
      config::load_hardware("edge", {"clusters=4", "cores=4", "mac.rows=32", "mac.columns=32", "vec.lanes=64",
                                     "l0.size=48KiB", "l1.size=256KiB", "dram.bandwidth=30GB/s"});
  const config::Network network = config::load_network("H=2,N=256,E=32,HKV=1");
  const Schedule fusemax = parse_dataflow("fusemax");
  const auto spent_on = [&](const std::vector<Schedule>& others) {
    Contest contest(machine, network);
    contest.add(parse_dataflow("layerwise"));
    contest.decide(true);
    const double before = contest.replays().effort().spent(), decided = contest.contenders().front().rank();
    contest.challenge(others);
    EXPECT_EQ(contest.contenders().front().schedule.text, "fusemax");
    EXPECT_EQ(contest.contenders().size(), 2U);
    EXPECT_LT(contest.contenders().front().rank(), decided);
    return contest.replays().effort().spent() - before;
  };
  const double once = spent_on({fusemax});
  EXPECT_GT(once, 0);
  EXPECT_LT(spent_on({fusemax, fusemax, fusemax}), 1.5 * once);
}

TEST(Ways, BeginAtTheTilesOfOthers) {
  Schedule mas = parse_dataflow("mas"), rows = parse_dataflow("weave"), fusemax = parse_dataflow("fusemax");
  mas.tiling = parse_tiling("bb=1,hh=2,nq=48,nkv=24,m0=32,n0=32,k0=16,kv=1,rb=2");
  rows.tiling = parse_tiling("walk=rows,nq=16");
  const Schedule begun = begun_at(rows, mas);
  EXPECT_EQ(begun.tiling["nq"], 16U);  // as given
  EXPECT_EQ(begun.tiling["nkv"], 24U);
  EXPECT_EQ(begun.tiling["hh"], 2U);
  EXPECT_EQ(begun.tiling["walk"], 1U);
  EXPECT_EQ(begun.tiling["steps"], 1U);  // what mas has not, and rows no use for
  EXPECT_EQ(begun.tiling["spare"], hal::kWord);
  EXPECT_EQ(begun_at(fusemax, begun).tiling["k0"], 16U);
  fusemax.tiling = parse_tiling("rb=32");
  EXPECT_EQ(begun_at(parse_dataflow("lean"), fusemax).tiling["rb"], 1U);  // of which there is one in lean
}

// As mas, its tiles are what rows begins with; from there it gets no slower. The first one itself is not tried again.
TEST(Contest, GoesOnFromTheTilesOfTheFastest) {
  const MachineConfig machine =
      config::load_hardware("edge", {"cores=1", "vec.lanes=16", "l1.size=256KiB", "dram.bandwidth=10GB/s"});
  const config::Network network = config::load_network("H=4,N=200,E=64,causal=1");
  const Schedule mas = parse_dataflow("mas");
  Schedule rows = parse_dataflow("weave");
  rows.tiling = parse_tiling("walk=rows");
  Contest contest(machine, network);
  contest.limit(20);
  contest.add(mas);
  contest.decide(true);
  const Contender decided = contest.contenders().front();
  const double spent = contest.replays().effort().spent();
  contest.vary({mas});
  EXPECT_EQ(contest.replays().effort().spent(), spent);
  contest.vary({rows, parse_dataflow("gemm")});  // which takes no attention
  EXPECT_GT(contest.replays().effort().spent(), spent);
  const Contender& first = contest.contenders().front();
  EXPECT_LE(first.cycles, decided.cycles);
  EXPECT_EQ(contest.contenders().size(), 2U);
  Trial trial(machine);
  EXPECT_EQ(trial.cycles(network, first.schedule), first.cycles);
}

// A start may tell little: the fastest is found among those that begin far behind.
TEST(Contest, GoesOnWithWhatBeginsBehind) {
  const MachineConfig machine =
      config::load_hardware("edge", {"clusters=4", "cores=4", "mac.rows=32", "mac.columns=32", "vec.lanes=64",
                                     "l0.size=48KiB", "l1.size=256KiB", "dram.bandwidth=30GB/s"});
  const config::Network network = config::load_network("H=2,N=512,E=32,HKV=1");
  Contest contest(machine, network);
  mapping::Replays replays(machine);
  double best = 1e30;
  for (const char* name : {"flat", "mas", "tileflow", "fusemax"}) {
    const Schedule open = parse_dataflow(name);
    contest.add(open);
    Trial trial(machine);
    best = std::min(best,
                    static_cast<double>(trial.cycles(network, choose_tiles(machine, network, open, replays).schedule)));
  }
  contest.decide(true);
  EXPECT_LE(static_cast<double>(contest.contenders().front().cycles), 1.01 * best);
}

}  // namespace
}  // namespace attnvp::job
