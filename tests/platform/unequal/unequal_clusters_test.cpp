// Machines whose clusters are not alike: each has its own values, the output is the reference's, work is dealt by
// speed, and a list of equal clusters is a number of them.
#include <numeric>
#include <random>

#include "platform/machine/energy/machine_model.h"
#include "platform/report/report.h"
#include "platform/run/results/accounting.h"
#include "platform/schedule/check/checker.h"
#include "platform/schedule/counter.h"
#include "platform/schedule/demand.h"
#include "platform/workload/workload.h"
#include "tests/platform/control/riscv_runs.h"
#include "tests/platform/test_files.h"
#include "tests/platform/unequal/unequal_runs.h"

namespace attnvp {
namespace {

using attnvp::testing::message_of;
using runs::kUnequalDataflows;
using runs::kUnequalLayers;
using runs::machine_with;

using Case = std::tuple<std::string, std::string>;
class UnequalClusters : public ::testing::TestWithParam<Case> {};

TEST_P(UnequalClusters, GiveTheReferencesOutput) {
  const auto& [dataflow, layer] = GetParam();
  const MachineConfig machine = machine_with("large-small", {});
  const job::RunResult r = runs::run_of(machine, layer, dataflow);
  EXPECT_TRUE(r.golden_checked);
  EXPECT_TRUE(r.golden.passed) << r.golden.max_abs_error;
  const schedule::Job job = job::make_job(machine, r.network, r.schedule);
  EXPECT_LE(schedule::layer_demand(job, machine).cycles(), static_cast<double>(r.cycles));
  const schedule::Counts counts = schedule::count(job, machine);
  EXPECT_EQ(counts.mac.macs, r.sum("mac", "macs"));
  EXPECT_EQ(counts.refused, 0U);
}

INSTANTIATE_TEST_SUITE_P(Layers, UnequalClusters,
                         ::testing::Combine(::testing::ValuesIn(kUnequalDataflows),
                                            ::testing::ValuesIn(kUnequalLayers)),
                         runs::name_of);

TEST(UnequalClustersRandom, GiveTheReferencesOutputOnAnyMachine) {
  std::mt19937 random(11);
  const auto of = [&](const std::vector<std::string>& all) { return all[random() % all.size()]; };
  for (int n = 0; n < 24; ++n) {
    std::vector<std::string> settings = {"clusters=" + std::to_string(2 + random() % 3),
                                         "cores=" + std::to_string(1 + random() % 3), "l1.ports=7"};
    const MachineConfig plain = machine_with("edge", settings);
    for (std::uint32_t c = 0; c < plain.clusters; ++c) {
      const std::string cluster = "clusters." + std::to_string(c) + ".";
      settings.push_back(cluster + "l1.size=" + of({"1 MiB", "2 MiB", "5 MiB"}));
      settings.push_back(cluster + "dma.channels=" + of({"4", "6", "8"}));
      settings.push_back(cluster + "mac.columns=" + of({"8", "16", "24"}));
      for (std::uint32_t k = 0; k < plain.cores; ++k) {
        const std::string core = cluster + "cores." + std::to_string(k) + ".";
        settings.push_back(core + "mac.rows=" + of({"8", "16", "32"}));
        settings.push_back(core + "vec.lanes=" + of({"64", "256", "512"}));
        settings.push_back(core + "l0.size=" + of({"32 KiB", "64 KiB"}));
      }
    }
    const std::string layer = of(kUnequalLayers), dataflow = of(kUnequalDataflows);
    SCOPED_TRACE(layer + " " + dataflow + " " + config::to_yaml(machine_with("edge", settings)));
    const job::RunResult r = runs::run_of(machine_with("edge", settings), layer, dataflow);
    EXPECT_TRUE(r.golden.passed);
  }
}

// Also with the machine's own list of cores, which holds for every cluster.
TEST(EqualClusters, AListOfThemIsTheirNumber) {
  attnvp::testing::TemporaryFolder folder;
  const auto load = [&](const std::string& clusters) {
    return config::load_hardware(folder.write("my.yaml", "base: edge\ncores: [{mac: {rows: 32}}, {}]\n" + clusters));
  };
  const MachineConfig number = load("clusters: 2\n");
  for (const char* text : {"clusters: [{}, {}]\n", "clusters: [{}, {mac: {rows: 16}, l1: {size: 5 MiB}}]\n",
                           "clusters: [{cores: [{}, {}]}, {cores: [{mac: {rows: 32}}, {}]}]\n"}) {
    const MachineConfig list = load(text);
    EXPECT_EQ(config::to_yaml(number), config::to_yaml(list)) << text;
    EXPECT_EQ(config::machine_hash(number), config::machine_hash(list)) << text;
    const auto json = [&](const MachineConfig& machine) {
      job::RunResult r = runs::run_of(machine, "H=3,N=96,E=32", "mas");
      r.wall_seconds = 0;
      return report::to_json(r, machine.name, {"", false, {}, "", 1});
    };
    EXPECT_EQ(json(number), json(list)) << text;
  }
  // Values that all clusters share become the machine's.
  EXPECT_EQ(config::to_yaml(load("clusters: [{l1: {size: 1 MiB}}, {l1: {size: 1 MiB}}]\n")),
            config::to_yaml(load("clusters: 2\nl1: {size: 1 MiB}\n")));
}

TEST(UnequalClustersModules, HaveTheValuesOfTheirCluster) {
  const MachineConfig machine =
      machine_with("edge", {"clusters=2", "clusters.1.l1.size=2 MiB", "clusters.1.cores.1.l0.size=32 KiB"});
  runs::Runner runner(machine, config::load_energy("cmos"), false);
  runner.run(workload::load("H=2,N=64,E=32").attention(), job::parse_dataflow("mas"), nullptr);
  const auto& clusters = runner.platform().clusters;
  EXPECT_EQ(clusters[0]->l1->size_bytes(), 5U << 20);
  EXPECT_EQ(clusters[1]->l1->size_bytes(), 2U << 20);
  EXPECT_EQ(clusters[0]->cores[1]->l0->size_bytes(), machine.l0.size_bytes);
  EXPECT_EQ(clusters[1]->cores[0]->l0->size_bytes(), machine.l0.size_bytes);
  EXPECT_EQ(clusters[1]->cores[1]->l0->size_bytes(), 32U << 10);
}

// A cluster's MAC engines need as many cycles as those of a machine of such clusters only, and twice as many with half
// of the rows: 64 rows are 4 or 8 passes of 16 or 8 rows.
TEST(UnequalClustersModules, NeedTheirOwnCycles) {
  const std::string tiling = "bb=1,hh=1,nq=32,nkv=64,m0=32,n0=32,k0=32,kv=2,rb=2";
  const auto busy = [&](const std::vector<std::string>& settings, const char* module) {
    const job::RunResult r =
        runs::run_of(machine_with("edge", settings), "H=8,N=64,E=32", "mas:overwrite=off", tiling, false);
    double cycles = 0;
    std::uint64_t macs = 0;
    for (const job::CounterValue& c : r.counters) {
      if (c.module.rfind(module, 0) != 0 || c.module.find(".mac") == std::string::npos) continue;
      if (c.name == "busy_cycles") cycles += static_cast<double>(c.value);
      if (c.name == "stall_cycles") cycles -= static_cast<double>(c.value);
      if (c.name == "macs") macs += c.value;
    }
    return cycles / static_cast<double>(macs);
  };
  const std::vector<std::string> unequal = {"clusters=2", "clusters.1.mac.rows=8"};
  const double whole = busy({"clusters=2"}, "attnvp.cluster0"),
               half = busy({"clusters=2", "mac.rows=8"}, "attnvp.cluster0");
  EXPECT_NEAR(half / whole, 2, 1e-9);
  EXPECT_NEAR(whole, 1.0 / (16 * 16), 1e-9);
  EXPECT_EQ(busy(unequal, "attnvp.cluster0"), whole);
  EXPECT_EQ(busy(unequal, "attnvp.cluster1"), half);
}

std::vector<std::uint64_t> macs_of_clusters(const job::RunResult& r) { return job::imbalance_of(r).macs.each; }

// Arrays of four times the PEs, in both cores: four of five heads.
TEST(UnequalClustersWork, IsInProportionToSpeed) {
  for (const auto& [dataflow, tiling] :
       {std::pair{"mas", "bb=1,hh=1,nq=64,nkv=96,m0=32,n0=32,k0=32,kv=2,rb=2"},
        std::pair{"flat", "bb=1,hh=1,nq=64,nkv=96,m0=32,n0=32,k0=32,kv=2,rb=2,np=off,tb=3,sb=3"},
        std::pair{"cascade", "bb=1,hh=1,nq=64,nkv=96,m0=32,n0=32,k0=32,kv=4,rb=1,steps=2,spare=1"},
        std::pair{"flash2", "bb=1,hh=1,nq=32,nkv=96,m0=32,n0=32,k0=32,kv=3,rb=1"}}) {
    const job::RunResult r = runs::run_of(machine_with("large-small", {"dram.bandwidth=1 TB/s"}), "H=20,N=384,E=32",
                                          dataflow, tiling, false);
    const std::vector<std::uint64_t> macs = macs_of_clusters(r);
    ASSERT_EQ(macs.size(), 2U);
    const std::uint64_t all = 20ULL * 384 * 384 * 2 * 32;
    EXPECT_EQ(macs[0] + macs[1], all) << dataflow;
    EXPECT_NEAR(static_cast<double>(macs[0]), 0.8 * static_cast<double>(all), 0.04 * static_cast<double>(all))
        << dataflow;
  }
}

TEST(UnequalClustersWork, IsEvenWhereDramIsTheBound) {
  const job::RunResult r = runs::run_of(machine_with("large-small", {"dram.bandwidth=1 GB/s"}), "H=8,N=384,E=32", "mas",
                                        "bb=1,hh=1,nq=64,nkv=96,m0=32,n0=32,k0=32,kv=2,rb=2", false);
  const std::vector<std::uint64_t> macs = macs_of_clusters(r);
  EXPECT_EQ(macs[0], macs[1]);
}

// A DMA controller that waits for each burst keeps its cluster from work that the other can do.
TEST(UnequalClustersWork, FollowsTheDmaController) {
  const std::vector<std::uint64_t> macs = macs_of_clusters(
      runs::run_of(machine_with("edge", {"clusters=2", "dram.bandwidth=1 TB/s", "clusters.1.dma.outstanding=1",
                                         "mac.rows=128", "l0.size=512 KiB", "mac.columns=128", "vec.lanes=8192"}),
                   "H=16,N=256,E=64", "mas", "", false));
  EXPECT_GT(macs[0], 2 * macs[1]);
  EXPECT_GT(macs[1], 0U);
}

TEST(UnequalClustersTiles, FitTheSmallestL1) {
  const workload::Workload layer = workload::load("H=4,N=512,E=64");
  const auto info = [&](const std::vector<std::string>& settings) {
    return job::make_job(machine_with("edge", settings), layer, job::parse_dataflow("mas")).block.machine;
  };
  const hal::MachineInfo own = info({"clusters=3", "clusters.1.l1.size=1 MiB", "clusters.2.dma.channels=3"});
  EXPECT_EQ(own.l1_bytes, 1U << 20);
  EXPECT_EQ(own.dma_channels, 3U);
  EXPECT_EQ(info({"clusters=3"}).l1_bytes, 5U << 20);
  const std::string large = "bb=1,hh=2,nq=256,nkv=512,m0=32,n0=32,k0=32,kv=2,rb=2";
  std::string refusal;
  try {
    runs::run_of(machine_with("edge", {"clusters=2", "clusters.1.l1.size=512 KiB"}), "H=4,N=512,E=64", "mas", large,
                 false);
  } catch (const job::RunError& problem) {
    refusal = problem.what();
  }
  EXPECT_NE(refusal.find("L1 is too small: the schedule needs at least"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("l1.size is 524288 bytes"), std::string::npos) << refusal;
}

TEST(UnequalClustersRefusals, NameTheDataflowsThatTakeThem) {
  const MachineConfig machine = machine_with("large-small", {});
  EXPECT_EQ(
      message_of([&] { job::make_job(machine, workload::load("H=2,N=64,E=16"), job::parse_dataflow("tileflow")); }),
      "H=2,N=64,E=16 with tileflow: the machine's clusters are not alike, and that dataflow deals equal work to all; "
      "allowed: flat, mas, fusemax, cascade, flash2, flash3");
  EXPECT_EQ(message_of([&] { job::make_job(machine, workload::load("gemm:64x64x64"), job::parse_dataflow("gemm")); }),
            "gemm:64x64x64 with gemm: the machine's clusters are not alike; allowed is attention, as products and "
            "operations on rows are dealt in equal parts");
  // Clusters that differ in nothing that work is dealt by.
  EXPECT_TRUE(
      runs::run_of(machine_with("edge", {"clusters=2", "clusters.1.l1.size=2 MiB"}), "H=2,N=64,E=16", "tileflow")
          .golden.passed);
}

TEST(UnequalClustersPeaks, AreSumsOverClusters) {
  const job::RunResult r = runs::run_of(machine_with("large-small", {}), "H=2,N=64,E=16", "mas");
  EXPECT_EQ(r.peak.macs_per_cycle, 2U * (32 * 32 + 16 * 16));
  EXPECT_EQ(r.peak.vec_lanes, 2U * (1024 + 256));
  EXPECT_EQ(r.peak.l1_bytes, 7U << 20);
}

TEST(UnequalClustersEnergy, IsThatOfMachinesOfEachKind) {
  const auto leakage = [](const job::RunResult& r, const std::string& module) {
    double watts = 0;
    for (const job::CounterValue& c : r.counters) {
      if (c.module == module && c.component == "attnvp.leakage") watts += c.energy_pj / static_cast<double>(r.cycles);
    }
    return watts;
  };
  const auto of = [&](const std::vector<std::string>& settings) {
    return runs::run_of(machine_with("large-small", settings), "H=2,N=64,E=16", "mas");
  };
  const job::RunResult both = of({});
  const job::RunResult small = of({"clusters=1", "l1.size=2 MiB"});
  const job::RunResult large = of({"clusters=1", "mac.rows=32", "mac.columns=32", "vec.lanes=1024", "l0.size=128 KiB",
                                   "l1.bank_bandwidth=64 B/cycle", "l1.port_bandwidth=256 B/cycle"});
  for (const std::string module : {"l1", "dma", "core0.mac", "core1.vec", "core1.l0"}) {
    EXPECT_GT(leakage(small, "attnvp.cluster0." + module), 0) << module;
    EXPECT_NEAR(leakage(both, "attnvp.cluster0." + module) / leakage(large, "attnvp.cluster0." + module), 1, 1e-9);
    EXPECT_NEAR(leakage(both, "attnvp.cluster1." + module) / leakage(small, "attnvp.cluster0." + module), 1, 1e-9);
  }
}

TEST(UnequalClustersRiscv, FirmwareDealsAsTheNativeOneDoes) {
  ATTNVP_NEEDS_RISCV();
  for (const char* dataflow : {"mas", "flat", "fusemax", "flash2"}) {
    for (const char* layer : {"H=3,N=96,E=32", "H=2,N=77,E=40,causal=1"}) {
      const auto native = runs::run_job(machine_with("large-small", {}), layer, dataflow);
      const auto riscv = runs::run_job(machine_with("large-small", {"control.cpu=riscv"}), layer, dataflow, true,
                                       native.result.schedule.tiling);
      EXPECT_TRUE(riscv.result.golden.passed) << dataflow << " " << layer;
      EXPECT_EQ(native.descriptors, riscv.descriptors) << dataflow << " " << layer;
      EXPECT_EQ(native.result.output, riscv.result.output) << dataflow << " " << layer;
    }
  }
}

}  // namespace
}  // namespace attnvp
