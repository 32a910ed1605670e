// Machines whose cores are not alike: the output is the reference's, work is dealt by speed, and a list of equal cores
// is a number of them.
#include <numeric>
#include <random>

#include "platform/machine/energy/machine_model.h"
#include "platform/report/report.h"
#include "platform/run/results/accounting.h"
#include "platform/schedule/demand.h"
#include "platform/workload/workload.h"
#include "tests/platform/control/riscv_runs.h"
#include "tests/platform/test_files.h"
#include "tests/platform/unequal/unequal_runs.h"
#include "tests/support/tuned.h"

namespace attnvp {
namespace {

using attnvp::testing::message_of;
using runs::kUnequalDataflows;
using runs::kUnequalLayers;
using runs::machine_with;

using Case = std::tuple<std::string, std::string>;
class HeterogeneousCores : public ::testing::TestWithParam<Case> {};

TEST_P(HeterogeneousCores, GiveTheReferencesOutput) {
  const auto& [dataflow, layer] = GetParam();
  const MachineConfig machine = machine_with("big-little", {});
  const job::RunResult r = runs::run_of(machine, layer, dataflow);
  EXPECT_TRUE(r.golden_checked);
  EXPECT_TRUE(r.golden.passed) << r.golden.max_abs_error;
  EXPECT_LE(schedule::layer_demand(job::make_job(machine, r.network, r.schedule), machine).cycles(),
            static_cast<double>(r.cycles));
}

INSTANTIATE_TEST_SUITE_P(Layers, HeterogeneousCores,
                         ::testing::Combine(::testing::ValuesIn(kUnequalDataflows),
                                            ::testing::ValuesIn(kUnequalLayers)),
                         runs::name_of);

// Exponentials on the arrays, whose tiles take different numbers of places on them.
TEST(HeterogeneousCoresFusemax, KeepsTilesInArraysOfDifferentSizes) {
  const MachineConfig machine = machine_with("big-little", {"mac.resident_tiles=32", "dma.channels=8"});
  for (const char* layer : {"H=2,N=128,E=32", "H=2,N=77,E=40,causal=1"}) {
    const job::RunResult r =
        runs::run_of(machine, layer, "fusemax", "bb=1,hh=1,nq=32,nkv=32,m0=32,n0=32,k0=8,kv=4,rb=1,steps=2,spare=1");
    EXPECT_TRUE(r.golden.passed) << layer;
    EXPECT_GT(r.sum("mac", "exp_ops"), 0U) << layer;
  }
}

TEST(HeterogeneousCoresRandom, GiveTheReferencesOutputOnAnyMachine) {
  std::mt19937 random(7);
  const auto of = [&](const std::vector<std::string>& all) { return all[random() % all.size()]; };
  for (int n = 0; n < 24; ++n) {
    std::vector<std::string> settings = {"cores=" + std::to_string(2 + random() % 4),
                                         "clusters=" + std::to_string(1 + random() % 2), "l1.ports=9"};
    const MachineConfig plain = machine_with("edge", settings);
    for (std::uint32_t k = 0; k < plain.cores; ++k) {
      const std::string core = "cores." + std::to_string(k) + ".";
      settings.push_back(core + "mac.rows=" + of({"8", "16", "32"}));
      settings.push_back(core + "mac.columns=" + of({"8", "16", "24"}));
      settings.push_back(core + "vec.lanes=" + of({"64", "256", "512"}));
      settings.push_back(core + "l0.size=" + of({"32 KiB", "64 KiB"}));
    }
    const std::string layer = of(kUnequalLayers), dataflow = of(kUnequalDataflows);
    SCOPED_TRACE(layer + " " + dataflow + " " + config::to_yaml(machine_with("edge", settings)));
    const job::RunResult r = runs::run_of(machine_with("edge", settings), layer, dataflow);
    EXPECT_TRUE(r.golden.passed);
  }
}

TEST(EqualCores, AListOfThemIsTheirNumber) {
  attnvp::testing::TemporaryFolder folder;
  const MachineConfig number = config::load_hardware(folder.write("my.yaml", "base: edge\ncores: 2\n"));
  const MachineConfig list =
      config::load_hardware(folder.write("my.yaml", "base: edge\ncores: [{}, {mac: {rows: 16}}]\n"));
  EXPECT_EQ(config::to_yaml(number), config::to_yaml(list));
  EXPECT_EQ(config::machine_hash(number), config::machine_hash(list));
  for (const std::string dataflow : {"mas", "lean", "tileflow"}) {
    const auto json = [&](const MachineConfig& machine) {
      job::RunResult r = runs::run_of(machine, "H=3,N=96,E=32", dataflow);
      r.wall_seconds = 0;
      return report::to_json(r, machine.name, {"", false, {}, "", 1});
    };
    EXPECT_EQ(json(number), json(list)) << dataflow;
  }
}

std::vector<std::uint64_t> macs_of_cores(const job::RunResult& r) { return job::imbalance_of(r).core_macs.each; }

// Row blocks of 64 rows are 4 units of the small arrays' rows: of 6 units the large core has 4.
TEST(HeterogeneousCoresWork, IsInProportionToSpeedWithinATile) {
  const std::uint64_t unit = 16ULL * 384 * 2 * 32;  // rows, keys, both matmuls, depth
  for (const auto& [dataflow, tiling, tile] :
       {std::tuple{"mas", "bb=1,hh=1,nq=64,nkv=96,m0=32,n0=32,k0=32,kv=2,rb=2", unit * 4},
        std::tuple{"flat", "bb=1,hh=1,nq=64,nkv=96,m0=32,n0=32,k0=32,kv=2,rb=2,np=off,tb=3,sb=3", unit * 4},
        std::tuple{"cascade", "bb=1,hh=1,nq=64,nkv=96,m0=32,n0=32,k0=32,kv=4,rb=1,steps=2,spare=1", unit * 4},
        std::tuple{"flash2", "bb=1,hh=1,nq=32,nkv=96,m0=32,n0=32,k0=32,kv=3,rb=1", unit * 2}}) {
    const job::RunResult r =
        runs::run_of(machine_with("big-little", {"dram.bandwidth=1 TB/s"}), "H=8,N=384,E=32", dataflow, tiling, false);
    const std::vector<std::uint64_t> macs = macs_of_cores(r);
    ASSERT_EQ(macs.size(), 3U);
    const std::uint64_t all = std::accumulate(macs.begin(), macs.end(), std::uint64_t{0});
    EXPECT_EQ(all, 8 * unit * 24) << dataflow;
    const double shares[] = {4.0 / 6, 1.0 / 6, 1.0 / 6};
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(static_cast<double>(macs[k]), shares[k] * static_cast<double>(all), static_cast<double>(tile))
          << dataflow << " core " << k;
    }
  }
}

// Where DRAM keeps all cores waiting, an even share each.
TEST(HeterogeneousCoresWork, IsEvenWhereDramIsTheBound) {
  const job::RunResult r = runs::run_of(machine_with("big-little", {"dram.bandwidth=1 GB/s"}), "H=8,N=384,E=32", "mas",
                                        "bb=1,hh=1,nq=64,nkv=96,m0=32,n0=32,k0=32,kv=2,rb=2", false);
  EXPECT_LT(job::imbalance_of(r).core_macs.ratio(), 1.1);
}

// Wherever it stands in the list.
TEST(HeterogeneousCoresWork, FewRowsGoToTheFastestCore) {
  const std::vector<std::string> last = {"dram.bandwidth=1 TB/s", "cores=3", "cores.2.mac.rows=32",
                                         "cores.2.mac.columns=32", "cores.2.vec.lanes=1024"};
  for (const char* dataflow : {"mas", "flat", "cascade", "flash2"}) {
    const std::vector<std::uint64_t> macs =
        macs_of_cores(runs::run_of(machine_with("edge", last), "H=1,NQ=4,NKV=256,E=32", dataflow));
    EXPECT_EQ(macs[0] + macs[1], 0U) << dataflow;
    EXPECT_GT(macs[2], 0U) << dataflow;
  }
}

class DoubledCore : public ::testing::TestWithParam<std::string> {};

TEST_P(DoubledCore, IsNeverSlowerByMoreThan3Percent) {
  const std::string& dataflow = GetParam();
  std::vector<std::string> layers = {"H=4,N=512,E=64", "H=3,N=384,E=32,causal=1", "H=2,N=1024,E=16"};
  // Of heads with less than a window of rows, `flat` hands out one after the other, and slower cores keep it waiting.
  if (dataflow != "flat") layers.emplace_back("H=16,NQ=32,NKV=1024,E=64");
  for (const std::string& layer : layers) {
    for (const char* dram : {"dram.bandwidth=300 GB/s", "dram.bandwidth=30 GB/s", "dram.bandwidth=3 GB/s"}) {
      const MachineConfig before = machine_with("edge", {dram});
      const job::Schedule schedule = explore::tune(
          {before, workload::load(layer), job::parse_dataflow(dataflow), config::load_energy(before.energy)},
          runs::few_evaluations(24));  // holds for good tiles
      const auto cycles = [&](const std::vector<std::string>& settings) {
        const MachineConfig machine = machine_with("edge", settings);
        job::Runner runner(machine, config::load_energy(machine.energy), false);
        return static_cast<double>(runner.run(workload::load(layer), schedule, nullptr, {}).cycles);
      };
      for (const std::string key : {"mac.rows", "mac.columns"}) {
        // With all arrays doubled, loads may come in an order that DRAM serves worse, whatever is dealt to whom.
        const double allowed = 1.03 * std::max(cycles({dram}), cycles({dram, key + "=32"}));
        for (const std::string core : {"cores.0.", "cores.1."}) {
          EXPECT_LE(cycles({dram, core + key + "=32"}), allowed)
              << layer << " " << dram << " " << core << key << " " << job::tiling_line(schedule.tiling);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Dataflows, DoubledCore, ::testing::Values("mas", "flat", "cascade", "flash2"),
                         [](const auto& of) { return of.param; });

TEST(HeterogeneousCoresRiscv, FirmwareDealsAsTheNativeOneDoes) {
  ATTNVP_NEEDS_RISCV();
  for (const char* dataflow : {"mas", "flat", "fusemax", "flash2"}) {
    for (const char* layer : {"H=3,N=96,E=32", "H=2,N=77,E=40,causal=1"}) {
      const auto native = runs::run_job(machine_with("big-little", {}), layer, dataflow);
      const auto riscv = runs::run_job(machine_with("big-little", {"control.cpu=riscv"}), layer, dataflow, true,
                                       native.result.schedule.tiling);
      EXPECT_TRUE(riscv.result.golden.passed) << dataflow << " " << layer;
      EXPECT_EQ(native.descriptors, riscv.descriptors) << dataflow << " " << layer;
      EXPECT_EQ(native.result.output, riscv.result.output) << dataflow << " " << layer;
    }
  }
}

TEST(HeterogeneousCoresRefusals, NameTheDataflowsThatTakeThem) {
  const MachineConfig machine = machine_with("big-little", {});
  const auto refusal = [&](const std::string& dataflow) {
    return message_of([&] { job::make_job(machine, workload::load("H=2,N=64,E=16"), job::parse_dataflow(dataflow)); });
  };
  EXPECT_EQ(
      refusal("tileflow"),
      "H=2,N=64,E=16 with tileflow: the machine's cores are not alike, and that dataflow deals equal work to all; "
      "allowed: flat, mas, fusemax, cascade, flash2, flash3");
  EXPECT_EQ(refusal("flash2:grid=blocks"),
            "H=2,N=64,E=16 with flash2:grid=blocks: the machine's cores are not alike; allowed is grid=workers");
  // Cores that differ in nothing that work is dealt by.
  EXPECT_NO_THROW(job::make_job(machine_with("edge", {"cores.1.mac.queue_depth=8"}), workload::load("H=2,N=64,E=16"),
                                job::parse_dataflow("tileflow")));
}

TEST(HeterogeneousCoresPeaks, AreSumsOverCores) {
  const job::RunResult r = runs::run_of(machine_with("big-little", {}), "H=2,N=64,E=16", "mas");
  EXPECT_EQ(r.peak.macs_per_cycle, 32U * 32 + 2 * 16 * 16);
  EXPECT_EQ(r.peak.vec_lanes, 1024U + 2 * 256);
}

// Leakage and clocks of each core are its own.
TEST(HeterogeneousCoresEnergy, IsThatOfMachinesOfEachKind) {
  const auto leakage = [](const job::RunResult& r, const std::string& module) {
    double watts = 0;
    for (const job::CounterValue& c : r.counters) {
      if (c.module == module && c.component == "attnvp.leakage") watts += c.energy_pj / static_cast<double>(r.cycles);
    }
    return watts;
  };
  const auto of = [&](const std::vector<std::string>& settings) {
    return runs::run_of(machine_with("big-little", settings), "H=2,N=64,E=16", "mas");
  };
  const job::RunResult both = of({});
  const job::RunResult little = of({"cores=1"});
  const job::RunResult big = of({"cores=1", "mac.rows=32", "mac.columns=32", "vec.lanes=1024", "l0.size=128 KiB"});
  for (const std::string module : {"mac", "vec", "l0"}) {
    EXPECT_GT(leakage(little, "attnvp.cluster0.core0." + module), 0);
    EXPECT_NEAR(leakage(both, "attnvp.cluster0.core0." + module) / leakage(big, "attnvp.cluster0.core0." + module), 1,
                1e-9);
    EXPECT_NEAR(leakage(both, "attnvp.cluster0.core2." + module) / leakage(little, "attnvp.cluster0.core0." + module),
                1, 1e-9);
  }
}

}  // namespace
}  // namespace attnvp
