// How evenly work was dealt: what clusters have adds up to what the machine did, and ratios are those by hand.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "platform/report/report.h"
#include "platform/run/results/accounting.h"
#include "platform/workload/workload.h"
#include "tests/platform/random_jobs.h"
#include "tests/platform/runs.h"
#include "tests/support/tuned.h"

namespace attnvp::runs {
namespace {

job::RunResult timed(const MachineConfig& machine, const workload::Workload& n, const std::string& dataflow,
                     const std::string& tiling = "", std::uint64_t evaluations = 80) {
  runs::Runner runner(machine, config::load_energy("fusemax-45nm"), false, runs::few_evaluations(evaluations));
  job::Schedule schedule = job::parse_dataflow(dataflow);
  schedule.tiling = job::parse_tiling(tiling);
  return runner.run(n, schedule, nullptr, {});
}

// Three heads of one row block each on two clusters of a core: two of them and one.
TEST(Imbalance, ThreeHeadsOnTwoClusters) {
  MachineConfig machine = config::load_hardware("cluster3");
  machine.clusters = 2;
  machine.cores = 1;
  const std::uint64_t rows = 64, emb = 32;
  const job::RunResult r = timed(machine, workload::load("H=3,N=64,E=32"), "flat", "nq=64,hh=1,bb=1");
  const job::Imbalance i = job::imbalance_of(r);
  const std::uint64_t macs = 2 * rows * rows * emb, bytes = 4 * rows * emb * 2;  // of a head
  EXPECT_EQ(i.macs.most(), 2 * macs);
  EXPECT_EQ(i.macs.mean(), 1.5 * static_cast<double>(macs));
  EXPECT_EQ(i.dma_bytes.most(), 2 * bytes);
  for (const job::Dealt* d : {&i.macs, &i.vec_cycles, &i.dma_bytes}) {
    EXPECT_EQ(d->each.size(), 2U);
    EXPECT_NEAR(d->ratio(), 4. / 3, 1e-12);
  }
  EXPECT_EQ(i.core_macs.each, i.macs.each);
  EXPECT_EQ(i.macs.each[i.last()], 2 * macs);
  EXPECT_EQ(i.end[i.last()], r.cycles);
  EXPECT_LT(i.end[i.first()], r.cycles);
  const nlohmann::json all = nlohmann::json::parse(report::to_json(r, machine.name))["imbalance"];
  EXPECT_FALSE(all.contains("cores"));  // that is the clusters again
  EXPECT_EQ(all["clusters"]["macs"]["most"], 2 * macs);
  EXPECT_NEAR(all["clusters"]["dma_bytes"]["ratio"].get<double>(), 4. / 3, 1e-12);
  EXPECT_EQ(all["clusters"]["end_cycle"][i.last()], r.cycles);
  const std::string text = report::to_text(r, machine.name);
  EXPECT_NE(text.find(fmt::format("cluster {} ends first", i.first())), std::string::npos) << text;
  EXPECT_NE(text.find("1.33\n"), std::string::npos) << text;
}

TEST(Imbalance, OneWorkerHasNone) {
  MachineConfig machine = config::load_hardware("edge-small");
  ASSERT_EQ(machine.clusters * machine.cores, 1U);
  const job::RunResult r = timed(machine, workload::load("H=3,N=64,E=32"), "flat");
  EXPECT_FALSE(nlohmann::json::parse(report::to_json(r, machine.name)).contains("imbalance"));
  EXPECT_EQ(report::to_text(r, machine.name).find("most/mean"), std::string::npos);
}

TEST(Imbalance, NothingToDealIsEven) {
  MachineConfig machine = config::load_hardware("cluster3");
  const job::Imbalance i = job::imbalance_of(timed(machine, workload::gemm(64, 64, 64), "gemm"));
  EXPECT_EQ(i.vec_cycles.total(), 0U);
  EXPECT_EQ(i.vec_cycles.ratio(), 1);
}

// Pieces so large that one in the middle has all of the only head are no good choice, though the first and the last
// cluster are done at once.
TEST(Imbalance, ChosenTilesAreNotForOneClusterAlone) {
  for (const std::uint32_t clusters : {3U, 5U}) {
    MachineConfig machine = config::load_hardware("cluster3");
    machine.clusters = clusters;
    for (const char* dataflow : {"fusemax", "cascade", "mas", "flat", "lean", "flash2"}) {
      const workload::Attention n = workload::load("H=1,N=1024,E=64,causal=1").attention();
      const job::Imbalance i = job::imbalance_of(timed(machine, n, dataflow));
      EXPECT_LT(i.macs.ratio(), 0.8 * clusters) << dataflow << " on " << clusters << " clusters";
    }
  }
}

class ImbalanceOfAny : public ::testing::TestWithParam<int> {};

TEST_P(ImbalanceOfAny, AddsUp) {
  std::vector<std::string> dataflows = kUnderRules;
  dataflows.insert(dataflows.end(), {"gemm", "softmax-rows"});
  int done = 0;
  for (std::uint32_t number = 0; number < 12; ++number) {
    Random r(static_cast<std::uint32_t>(GetParam()) * 7919 + number);
    MachineConfig m = random_machine(r);
    m.clusters = r.from(1, 4);
    const std::string dataflow = dataflows[r.from(0, static_cast<std::uint32_t>(dataflows.size()) - 1)];
    const workload::Workload n =
        dataflow == "gemm"           ? workload::Workload(workload::gemm(r.from(1, 200), r.from(1, 200), r.from(1, 99)))
        : dataflow == "softmax-rows" ? workload::Workload(workload::softmax_rows(r.from(1, 200), r.from(1, 99)))
                                     : random_network(r);
    SCOPED_TRACE(fmt::format("{} of {} x {} on {} clusters of {}", dataflow, n.extents().seq_q, n.extents().seq_kv,
                             m.clusters, m.cores));
    job::RunResult result;
    try {
      result = timed(m, n, dataflow, "", 8);
    } catch (const std::runtime_error&) {  // which other tests look at
      continue;
    }
    ++done;
    const job::Imbalance i = job::imbalance_of(result);
    ASSERT_EQ(i.macs.each.size(), m.clusters);
    ASSERT_EQ(i.vec_cycles.each.size(), m.clusters);
    ASSERT_EQ(i.dma_bytes.each.size(), m.clusters);
    ASSERT_EQ(i.core_macs.each.size(), m.clusters * m.cores);
    ASSERT_EQ(i.core_vec_cycles.each.size(), m.clusters * m.cores);
    ASSERT_EQ(i.end.size(), m.clusters);
    EXPECT_EQ(i.macs.total(), result.sum("mac", "macs"));
    EXPECT_EQ(i.core_macs.total(), result.sum("mac", "macs"));
    EXPECT_EQ(i.vec_cycles.total(), result.sum("vec", "busy_cycles") - result.sum("vec", "stall_cycles"));
    EXPECT_EQ(i.core_vec_cycles.total(), i.vec_cycles.total());
    EXPECT_EQ(i.dma_bytes.total(), result.sum("dma", "read_bytes") + result.sum("dma", "write_bytes"));
    for (std::uint32_t c = 0; c < m.clusters; ++c) {
      std::uint64_t macs = 0;
      for (std::uint32_t k = 0; k < m.cores; ++k) {
        const std::uint64_t own = result.sum(fmt::format("cluster{}.core{}.mac", c, k), "macs");
        EXPECT_EQ(i.core_macs.each[c * m.cores + k], own);
        macs += own;
      }
      EXPECT_EQ(i.macs.each[c], macs);
      EXPECT_LE(i.end[c], result.cycles);
    }
    EXPECT_EQ(i.end[i.last()], result.cycles);
    for (const job::Dealt* d : {&i.macs, &i.vec_cycles, &i.dma_bytes, &i.core_macs, &i.core_vec_cycles}) {
      EXPECT_GE(d->ratio(), 1);
      EXPECT_LE(d->ratio(), static_cast<double>(d->each.size()));
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(done, 0);
}

INSTANTIATE_TEST_SUITE_P(Jobs, ImbalanceOfAny, ::testing::Range(0, 6));

}  // namespace
}  // namespace attnvp::runs
