// What any schedule of a layer takes: by hand, and never more than a simulation takes.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "platform/machine/energy.h"
#include "platform/machine/hardware.h"
#include "platform/run/job.h"
#include "platform/schedule/demand.h"
#include "tests/support/all_schedules.h"
#include "tests/support/tuned.h"

namespace attnvp {
namespace {

double lanes_of(const std::string& layer, const std::vector<std::string>& keys = {}, const char* dataflow = "mas") {
  const MachineConfig machine = config::load_hardware("edge", keys);
  const workload::Attention network = workload::load(layer).attention();
  return schedule::layer_demand(job::make_job(machine, network.folded(), job::parse_dataflow(dataflow)), machine).lanes;
}

// Two engines of 256 lanes. Softmax of whole rows: 32 lane-cycles a score. In one pass: a maximum of 2, two sums of 2
// and an exponential of 20, and 6 for each element of O.
TEST(LayerDemand, OfLanesIsThatOfTheCheaperSoftmax) {
  EXPECT_DOUBLE_EQ(lanes_of("H=2,N=96,E=32"), 2 * 96 * 96 * (26 + 6.0 * 32 / 96) / 512);
  EXPECT_DOUBLE_EQ(lanes_of("H=2,N=96,E=128"), 2 * 96 * 96 * 32.0 / 512);
  EXPECT_DOUBLE_EQ(lanes_of("H=2,N=96,E=32,causal=1"), 2 * 96 * 97 / 2 * 28.0 / 512);
  EXPECT_DOUBLE_EQ(lanes_of("H=2,N=96,E=32", {"clusters=3", "vec.lanes=64"}), 2 * 96 * 96 * 28.0 / (6 * 64));
  EXPECT_EQ(lanes_of("H=2,N=96,E=32", {"mac.resident_tiles=8"}), 0);
  EXPECT_EQ(lanes_of("H=2,N=96,E=32,softmax=none", {}, "chain"), 0);
}

// Rows of every length, where lanes are the only scarce resource. The tiles are those of the first machine.
TEST(Bound, HoldsWhereLanesAreFew) {
  double nearest = 0;
  const auto machine_with = [](const char* keys) {
    return config::load_hardware("edge", {keys, "vec.exp_lane_cycles=3"});
  };
  for (const char* layer :
       {"H=2,N=40,E=48", "H=2,N=96,E=16", "H=2,N=96,E=16,causal=1", "H=2,N=70,E=80,causal=1,window=9",
        "H=4,HKV=1,N=50,E=32,causal=1", "B=3,H=2,NQ=20,NKV=60,E=16,valid=60+1+17", "B=2,H=2,NQ=1,NKV=90,E=128",
        "H=1,NQ=64,NKV=8,E=64"}) {
    const workload::Attention network = workload::load(layer).attention();
    for (const job::Schedule& open : runs::all_schedules()) {
      job::Schedule chosen;
      try {
        chosen = runs::complete(machine_with("vec.lanes=1"), network, open);
      } catch (const std::runtime_error&) {  // a dataflow that does not take the layer
        continue;
      }
      for (const char* keys : {"vec.lanes=1", "vec.softmax_lane_cycles=200"}) {
        const MachineConfig machine = machine_with(keys);
        try {
          const double least = schedule::least_cycles(job::make_job(machine, network, chosen), machine);
          runs::Runner runner(machine, config::load_energy(machine.energy), false);
          const auto cycles = static_cast<double>(runner.run(network, chosen, nullptr, {}).cycles);
          EXPECT_LE(least, cycles) << keys << " " << layer << " " << chosen.text;
          const double lanes = schedule::layer_demand(job::make_job(machine, network, chosen), machine).lanes;
          EXPECT_LE(lanes, cycles) << keys << " " << layer << " " << chosen.text;
          nearest = std::max(nearest, lanes / cycles);
        } catch (const std::runtime_error&) {  // tiles that need the other machine
        }
      }
    }
  }
  EXPECT_GT(nearest, 0.85);  // the bound is near enough to be tested
}

// A run may find everything in a cache before DRAM but what it reads first. The tiles are those of the first machine.
TEST(Bound, HoldsBehindACache) {
  const std::vector<std::vector<std::string>> machines = {
      {"dram.latency=2us"},
      {"dram.bandwidth=5GB/s"},
      {"dram.bandwidth=5GB/s", "dram.l2_warm=true"},
      {"dram.bandwidth=5GB/s", "dram.l2_write_back=true"},
      {"dram.bandwidth=20GB/s", "dram.l2_bandwidth=10GB/s", "dram.l2_latency=1us"}};
  const auto machine_with = [](std::vector<std::string> keys) {
    keys.emplace_back("clusters=4");
    return config::load_hardware("a100", keys);
  };
  for (const char* dataflow : {"mas", "flat", "fusemax", "flash2", "layerwise", "lean"}) {
    for (const char* layer : {"H=8,N=256,E=64", "H=4,HKV=1,N=512,E=64,causal=1"}) {
      const workload::Attention network = workload::load(layer).attention();
      const job::Schedule chosen =
          runs::complete(machine_with(machines.front()), network, job::parse_dataflow(dataflow));
      for (const std::vector<std::string>& keys : machines) {
        const MachineConfig machine = machine_with(keys);
        const double least = schedule::least_cycles(job::make_job(machine, network, chosen), machine);
        runs::Runner runner(machine, config::load_energy(machine.energy), false);
        EXPECT_LE(least, static_cast<double>(runner.run(network, chosen, nullptr, {}).cycles))
            << keys[0] << " " << dataflow << " " << layer;
      }
    }
  }
}

}  // namespace
}  // namespace attnvp
