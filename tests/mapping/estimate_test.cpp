// Estimates of schedules against their simulation, and of a part of a stream against the whole of it.
#include "mapping/estimate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "mapping/counter.h"
#include "tests/mapping/given.h"
#include "tests/mapping/random_schedules.h"

namespace attnvp {
namespace {

const auto complete = [](const MachineConfig& machine, const config::Network& network, const job::Schedule& open) {
  return job::complete(machine, network, open);
};
const auto look = [](const MachineConfig& machine, const config::Network& network, const job::Schedule& open) {
  return job::look(machine, network, open);
};

double over_simulation(const Given& given) {
  const job::Schedule schedule = given.schedule();
  const MachineConfig machine = given.machine();
  mapping::Replays replays(machine);
  const double estimate =
      mapping::estimate(job::make_job(given.machine(), given.layer(), schedule), replays, 100000).cycles;
  return estimate / given.simulated(schedule);
}

// By the first commands of the job's streams, over that by all of them.
double over_whole(const Given& given, std::size_t commands) {
  const MachineConfig machine = given.machine();
  const mapping::Job job = job::make_job(machine, given.layer().folded(), given.schedule());
  mapping::Replays replays(machine);
  const mapping::Estimate part = mapping::estimate(job, replays, commands);
  const mapping::Estimate whole = mapping::estimate(job, replays, 3000000);
  EXPECT_TRUE(whole.whole) << given.network << " " << given.dataflow;
  EXPECT_FALSE(part.whole) << given.network << " " << given.dataflow;
  return part.cycles / whole.cycles;
}

// The estimate is for comparing. These are hard cases: tiny layers, bursts of 16 bytes, one bank.
TEST(Estimate, IsNearTheSimulation) {
  std::vector<double> ratios;
  each_random_schedule(
      60, 4711, complete, [&](std::uint32_t, const auto& machine, const auto& network, const auto& chosen) {
        mapping::Replays replays(machine);
        const double estimate = mapping::estimate(job::make_job(machine, network, chosen), replays, 100000).cycles;
        job::Runner runner(machine, config::load_energy("fusemax-45nm"), false);
        ratios.push_back(estimate / static_cast<double>(runner.run(network, chosen, nullptr, {}).cycles));
      });
  ASSERT_GE(ratios.size(), 20U);
  std::sort(ratios.begin(), ratios.end(), [](double a, double b) { return std::abs(a - 1) < std::abs(b - 1); });
  EXPECT_LE(std::abs(ratios[ratios.size() / 2] - 1), 0.02);
  EXPECT_LE(std::abs(ratios[ratios.size() * 8 / 10] - 1), 0.05);
  EXPECT_LE(ratios.back(), 1.3);
  EXPECT_GE(ratios.back(), 0.8);
}

// Where less than all is asked for it says that it is no less than that, or else what it says anyway; and nothing else
// of what it says hangs on that.
TEST(Estimate, IsCutShortOnlyWhereItIsEnough) {
  std::uint32_t cut = 0, whole = 0;
  each_random_schedule(1000, 815, look,
                       [&](std::uint32_t i, const auto& machine, const auto& network, const auto& chosen) {
                         const mapping::Job job = job::make_job(machine, network.folded(), chosen);
                         for (const std::size_t commands : {60, 250, 100000}) {
                           const auto estimate = [&](double enough, double& effort) {
                             mapping::Replays replays(machine);
                             const mapping::Estimate e = mapping::estimate(job, replays, commands, enough);
                             effort = replays.effort().spent();
                             return e;
                           };
                           double effort = 0, less = 0;
                           const mapping::Estimate all = estimate(mapping::kNever, effort);
                           if (all.cycles == mapping::kNever) continue;
                           for (const double part : {0.5, 0.9, 0.999, 1.001, 1.5}) {
                             const mapping::Estimate e = estimate(part * all.cycles, less);
                             if (part < 1) {
                               EXPECT_GE(e.cycles, part * all.cycles) << i << " " << chosen.text << " " << commands;
                             } else {
                               EXPECT_EQ(e.cycles, all.cycles) << i << " " << chosen.text << " " << commands;
                               EXPECT_EQ(e.bus, all.bus) << i << " " << chosen.text << " " << commands;
                             }
                             EXPECT_LE(less, effort) << i << " " << chosen.text << " " << commands;
                             if (part == 0.9) ++(less < 0.95 * effort ? cut : whole);
                           }
                         }
                       });
  EXPECT_GT(cut, 150U);  // so that it is put to the test
  EXPECT_GT(cut + whole, 1000U);
}

// The commands of all clusters: where all streams were looked at, each; of a part of them, roughly.
TEST(Estimate, CountsTheCommandsOfAllClusters) {
  std::uint32_t exact = 0;
  std::vector<double> rough;
  each_random_schedule(150, 99, complete,
                       [&](std::uint32_t i, const auto& machine, const auto& network, const auto& chosen) {
                         const mapping::Job job = job::make_job(machine, network.folded(), chosen);
                         const auto commands = static_cast<double>(mapping::count(job, machine).commands);
                         for (const std::size_t most : {40U, 1000000U}) {
                           mapping::Replays replays(machine);
                           const mapping::Estimate e = mapping::estimate(job, replays, most);
                           if (e.cycles == mapping::kNever) continue;
                           EXPECT_LE(e.all_commands, e.commands * machine.clusters * (1 + 1e-12)) << i;
                           if (e.whole && machine.clusters <= 8) {
                             EXPECT_DOUBLE_EQ(e.all_commands, commands) << i;
                             ++exact;
                           } else {
                             rough.push_back(std::abs(std::log(e.all_commands / commands)));
                           }
                         }
                       });
  ASSERT_GE(exact, 100U);
  ASSERT_GE(rough.size(), 20U);
  std::sort(rough.begin(), rough.end());
  EXPECT_LE(rough[rough.size() / 2], 0.02);
  EXPECT_LE(rough[rough.size() * 9 / 10], 0.15);
}

// Engines of four cores on five ports of L1, on fewer, and on few banks: who is in whose way is a matter of percents.
TEST(Estimate, SharesL1AsTheSimulationDoes) {
  const std::vector<std::string> small = {"clusters=2",   "cores=4",        "mac.rows=128",          "mac.columns=128",
                                          "vec.lanes=64", "l0.size=256KiB", "dram.bandwidth=100GB/s"};
  const std::vector<std::string> narrow = {"clusters=2",    "cores=4",       "mac.rows=16",   "mac.columns=16",
                                           "vec.lanes=256", "l0.size=48KiB", "l1.size=32MiB", "dram.bandwidth=500GB/s"};
  const auto with = [](std::vector<std::string> keys, const std::vector<std::string>& more) {
    keys.insert(keys.end(), more.begin(), more.end());
    return keys;
  };
  const char* const tiles = "bb=1,hh=1,nq=16,nkv=128,m0=128,n0=128,k0=64,kv=2,rb=4,steps=2,spare=2,walk=tiles";
  const Given cases[] = {
      {small, "H=2,N=256,E=64", "weave", tiles},
      {with(small, {"l1.ports=1"}), "H=2,N=256,E=64", "weave", tiles},
      {with(small, {"l1.ports=2", "l1.banks=2"}), "H=2,N=256,E=64", "weave", tiles},
      {with(small, {"l1.banks=4"}), "H=2,N=256,E=64", "weave", tiles},
      {narrow, "H=8,N=2048,E=64,HKV=2", "weave",
       "bb=1,hh=1,nq=128,nkv=352,m0=32,n0=32,k0=64,kv=16,rb=64,steps=1,spare=none,walk=rows"},
      {narrow, "H=8,N=2048,E=64,HKV=2", "tileflow", "bb=1,hh=1,nq=16,nkv=800,m0=32,n0=32,k0=32,kv=2,rb=4"},
      // A port of its own, which an engine's fill, execution and drain share.
      {{"cores=1", "mac.rows=16", "mac.columns=16", "vec.lanes=16", "l0.size=48KiB", "l1.size=512KiB",
        "mac.resident_tiles=8", "dram.bandwidth=500GB/s"},
       "H=1,N=512,E=80",
       "weave",
       "bb=1,hh=1,nq=16,nkv=64,m0=32,n0=32,k0=64,kv=2,rb=4,steps=2,spare=none,walk=array"},
      {{"cores=1", "mac.rows=128", "mac.columns=128", "vec.lanes=256", "l0.size=256KiB", "l1.size=512KiB",
        "dram.bandwidth=500GB/s"},
       "H=16,N=128,E=32,HKV=4,causal=1",
       "tileflow",
       "bb=1,hh=2,nq=64,nkv=88,m0=128,n0=128,k0=64,kv=2,rb=4"},
      // Few bursts under way for DRAM's latency.
      {{"clusters=4", "cores=4", "mac.rows=64", "mac.columns=64", "vec.lanes=256", "l1.size=128KiB",
        "dram.bandwidth=2000GB/s"},
       "H=4,N=128,E=128,HKV=1,causal=1",
       "mas",
       "bb=1,hh=1,nq=12,nkv=64,m0=64,n0=64,k0=16,kv=1,rb=1"}};
  for (const Given& c : cases) EXPECT_NEAR(over_simulation(c), 1, 0.015) << c.network << " " << c.dataflow;
}

// Few bursts of many clusters: who comes first goes on first, and in step they would all wait for each other.
TEST(Estimate, SharesTheBusAsTheSimulationDoes) {
  const Given cases[] = {{{"clusters=16", "cores=2", "mac.rows=32", "mac.columns=32", "vec.lanes=16", "l0.size=48KiB",
                           "l1.size=256KiB", "dram.bandwidth=500GB/s"},
                          "H=32,N=512,E=80",
                          "flat",
                          "bb=1,hh=1,nq=16,nkv=64,m0=32,n0=64,k0=4,kv=stream,rb=2,tb=3,sb=3"},
                         {{"clusters=2", "cores=4", "mac.rows=64", "mac.columns=64", "vec.lanes=256", "l0.size=64KiB",
                           "l1.size=128KiB", "dram.bandwidth=100GB/s"},
                          "H=8,N=256,E=64",
                          "fusemax",
                          "bb=1,hh=1,nq=16,nkv=64,m0=64,n0=64,k0=2,kv=1,rb=2,steps=1,spare=none"}};
  for (const Given& c : cases) EXPECT_NEAR(over_simulation(c), 1, 0.015) << c.network << " " << c.dataflow;
}

// A stream that is too long is judged by a part of it: loads that come long before products, rows that attend to few
// keys, a matmul by itself.
TEST(Estimate, OfAPartIsNearThatOfTheWhole) {
  const std::vector<std::string> small_l1 = {"cores=1",       "mac.rows=64",   "mac.columns=64",
                                             "vec.lanes=256", "l0.size=64KiB", "l1.size=128KiB"};
  const Given cases[] = {
      {{}, "gemm:8192x2048x2048", "gemm", "nq=128,nkv=800,m0=32,n0=32,k0=64,kv=2,kd=64"},
      {small_l1, "H=8,HKV=2,N=1024,E=80", "weave",
       "bb=1,hh=1,nq=20,nkv=60,m0=64,n0=64,k0=32,kv=3,rb=1,steps=1,spare=none,walk=alone"},
      {small_l1, "H=8,HKV=2,N=2048,E=80,causal=1", "weave",
       "bb=1,hh=1,nq=20,nkv=60,m0=64,n0=64,k0=32,kv=3,rb=1,steps=1,spare=none,walk=alone"},
      {{}, "H=12,N=1024,E=64", "tileflow", "bb=1,hh=1,nq=8,nkv=1024,m0=32,n0=32,k0=64,kv=1,rb=2"},
      {{"clusters=4"}, "H=4,N=1024,E=64,causal=1", "mas", "bb=1,hh=1,nq=24,nkv=16,m0=16,n0=16,k0=64,kv=stream,rb=2"}};
  for (const Given& c : cases) EXPECT_NEAR(over_whole(c, 1000), 1, 0.1) << c.network << " " << c.dataflow;
}

// Likewise by few commands, where what those are is not what most of the layer is: K and V that come again and again,
// clusters with little to do among those that are looked at, batches of which two are taken at a time, heads that are
// dealt to other cores when there are fewer of them.
TEST(Estimate, OfFewCommandsIsNotFarOff) {
  const Given cases[] = {
      {{"clusters=4", "cores=4", "mac.rows=64", "mac.columns=64", "vec.lanes=16", "l0.size=64KiB", "l1.size=1024KiB",
        "dram.bandwidth=100GB/s"},
       "H=8,E=128,N=196,causal=1,window=49",
       "fusemax",
       "bb=1,hh=1,nq=2,nkv=64,m0=64,n0=64,k0=32,kv=4,rb=1,steps=1,spare=2"},
      {{"clusters=16", "cores=2", "mac.rows=256", "mac.columns=256", "vec.lanes=16", "l0.size=1024KiB",
        "l1.size=5120KiB", "dram.bandwidth=100GB/s"},
       "H=8,E=64,HKV=2,N=1024,causal=1,window=256",
       "fusemax",
       "bb=1,hh=1,nq=4,nkv=176,m0=256,n0=256,k0=16,kv=3,rb=2,steps=3,spare=2"},
      {{"clusters=16", "mac.rows=128", "mac.columns=128", "vec.lanes=256", "l0.size=256KiB", "l1.size=2048KiB",
        "dram.bandwidth=2000GB/s"},
       "H=2,E=32,N=1024,causal=1",
       "fusemax",
       "bb=1,hh=1,nq=24,nkv=120,m0=128,n0=128,k0=64,kv=3,rb=6,steps=3,spare=2"},
      {{"clusters=4", "cores=2", "mac.rows=32", "mac.columns=32", "vec.lanes=16", "l0.size=48KiB", "l1.size=1024KiB",
        "dram.bandwidth=2000GB/s"},
       "H=2,E=64,N=1024,causal=1",
       "flash-decoding",
       "bb=1,hh=1,nq=320,nkv=32,m0=32,n0=32,k0=64,kv=1,rb=1"},
      {{"clusters=16", "mac.rows=64", "mac.columns=64", "vec.lanes=64", "l0.size=64KiB", "l1.size=16384KiB",
        "dram.bandwidth=100GB/s"},
       "H=8,E=32,HKV=2,phase=decode,batch=4,cache=4096",
       "fusemax",
       "bb=1,hh=1,nq=4,nkv=52,m0=64,n0=64,k0=16,kv=stream,rb=1,steps=1,spare=1"},
      {{"mac.rows=128", "mac.columns=128", "vec.lanes=16", "l0.size=256KiB", "l1.size=512KiB", "dram.bandwidth=10GB/s"},
       "H=2,E=32,phase=decode,batch=4,cache=8192",
       "tileflow",
       "bb=2,hh=1,nq=1,nkv=384,m0=128,n0=128,k0=64,kv=stream,rb=4"},
      {{"cores=4", "mac.rows=8", "mac.columns=8", "vec.lanes=64", "l0.size=48KiB", "l1.size=5120KiB",
        "dram.bandwidth=30GB/s"},
       "H=12,E=64,N=256,causal=1",
       "lean",
       "bb=1,hh=1,nq=256,nkv=40,m0=16,n0=16,k0=64,kv=stream,rb=1"}};
  for (const Given& c : cases) EXPECT_NEAR(over_whole(c, 250), 1, 0.35) << c.network << " " << c.dataflow;
}

}  // namespace
}  // namespace attnvp
