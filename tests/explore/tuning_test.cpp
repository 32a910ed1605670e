// How tile sizes and dataflows are chosen: strategies find what the grid finds, what is given stays, results do not
// depend on processes or the cache, and better hardware is not slower.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "explore/analysis/advice.h"
#include "explore/layers/convergence.h"
#include "explore/tuning/cache.h"
#include "explore/tuning/tuner.h"
#include "platform/machine/catalog.h"
#include "platform/machine/hardware.h"
#include "platform/run/job.h"
#include "platform/run/results/accounting.h"
#include "platform/schedule/demand.h"
#include "platform/workload/workload.h"

namespace attnvp::explore {
namespace {

Problem problem(const std::string& net, const std::string& dataflow = "mas",
                const std::vector<std::string>& keys = {}) {
  const MachineConfig machine = config::load_hardware("edge", keys);
  return {machine, workload::load(net), job::parse_dataflow(dataflow), config::load_energy(machine.energy)};
}

TuningOptions options(std::uint64_t evaluations, const std::string& strategy = "descent", std::uint64_t seed = 1) {
  TuningOptions o;
  o.strategy = strategy;
  o.evaluations = evaluations;
  o.seed = seed;
  o.use_cache = false;
  return o;
}

std::uint64_t cycles_of(const Problem& p, const job::Schedule& schedule) {
  return job::Runner(p.machine, p.energy, false).run(p.network, schedule, nullptr, {}).cycles;
}

job::Schedule choose(const Problem& p, const TuningOptions& o = options(80)) { return tune(p, o); }

// The first piece of advice has been run: that machine, or tiling, is faster by as much as is said, and by 1% at least.
TEST(TriedAdvice, IsAsMuchFasterAsItSays) {
  int tried = 0;
  for (const char* dataflow : {"mas", "flat", "fusemax", "layerwise"}) {
    for (const auto& [net, keys] : {std::pair<const char*, std::vector<std::string>>{"H=2,N=256,E=64", {}},
                                    {"H=4,N=64,E=64", {"dma.outstanding=2"}},
                                    {"H=2,N=128,E=32", {"dram.bandwidth=2 GB/s"}}}) {
      Problem p = problem(net, dataflow, keys);
      p.schedule = choose(p, options(20));
      job::RunResult r = job::Runner(p.machine, p.energy, false).run(p.network, p.schedule, nullptr, {});
      const std::vector<job::Advice> untried = job::advice_for(r, p.machine);
      try_advice(r, p.machine, p.energy, options(20));
      EXPECT_TRUE(r.bound.advice_tried);
      EXPECT_LE(r.bound.advice.size(), untried.size());
      if (r.bound.advice.empty()) continue;
      const job::Advice& first = r.bound.advice.front();
      ASSERT_TRUE(first.tried) << net << " " << dataflow;
      EXPECT_GE(first.tried->speedup, 1.01);
      if (!first.same_tiling) continue;
      ++tried;
      Problem changed{config::load_hardware("edge", keys), p.network, p.schedule, p.energy};
      for (const auto& [key, value] : first.settings) config::apply_setting(changed.machine, {key, value, {"test"}});
      config::finish_machine(changed.machine, {"test"});
      const auto before = static_cast<double>(r.cycles);
      EXPECT_DOUBLE_EQ(first.tried->speedup, before / static_cast<double>(cycles_of(changed, p.schedule)));
      EXPECT_LE(first.tried->speedup, first.at_most * (1 + 1e-9));
    }
  }
  EXPECT_GT(tried, 4);
}

TEST(Strategies, ReachTheGridsOptimumInATenthOfItsRuns) {
  const Problem p = problem("H=2,N=64,E=32");
  const TuningResult grid = search(p, options(UINT64_MAX, "grid"));
  ASSERT_TRUE(grid.is_complete);
  for (const char* strategy : {"descent", "ga", "mcts"}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const TuningResult r = search(p, options(grid.log.size() / 10, strategy, seed));
      const double bar = std::string(strategy) == "descent" ? 1.02 : 1.1;  // the others draw at random
      EXPECT_LE(r.best.cost.first, bar * grid.best.cost.first) << strategy << ", seed " << seed;
      EXPECT_GE(r.best.cost.first, r.bound);
    }
  }
}

TEST(Strategies, AreDeterministicInAnyNumberOfProcesses) {
  const Problem p = problem("t5-mini");
  for (const char* strategy : {"ga", "descent", "mcts"}) {
    TuningOptions o = options(40, strategy, 3);
    const TuningResult a = search(p, o);
    o.jobs = 3;
    const TuningResult b = search(p, o);
    ASSERT_EQ(a.log.size(), b.log.size()) << strategy;
    for (std::size_t i = 0; i < a.log.size(); ++i)
      EXPECT_EQ(a.log[i].cost.first, b.log[i].cost.first) << strategy << " " << i;
    EXPECT_EQ(job::tiling_line(a.best.schedule.tiling), job::tiling_line(b.best.schedule.tiling)) << strategy;
  }
}

TEST(Tuner, RefusesAnUnknownStrategy) {
  EXPECT_THROW(search(problem("H=1,N=64,E=32"), options(5, "annealing")), config::ConfigError);
}

TEST(Tuner, KeepsWhatIsGiven) {
  Problem p = problem("H=3,N=200,E=40");
  p.schedule.tiling = job::parse_tiling("nq=48,nkv=40,kv=1");
  const job::Schedule chosen = choose(p);
  EXPECT_EQ(chosen.tiling["nq"], 48U);
  EXPECT_EQ(chosen.tiling["nkv"], 40U);
  EXPECT_EQ(chosen.tiling["kv"], 1U);
  EXPECT_TRUE(job::is_complete(chosen));
}

TEST(Tuner, NeedsNoEvaluationWhereNothingIsOpen) {
  Problem p = problem("H=1,N=64,E=32");
  p.schedule = choose(p);
  const job::Schedule again = choose(p, options(0));
  EXPECT_EQ(job::tiling_line(again.tiling), job::tiling_line(p.schedule.tiling));
}

TEST(Tuner, SaysWhatASmallerL1Lacks) {
  const Problem p = problem("H=1,N=16384,E=1024", "mas", {"l1.size=96 KiB"});
  try {
    choose(p);
    FAIL();
  } catch (const job::RunError& e) {
    EXPECT_NE(std::string(e.what()).find("L1 is too small"), std::string::npos) << e.what();
  }
}

// By a smaller job of the same kind the choice is nearly what it is by the whole one.
TEST(Tuner, ChoosesBySmallerJobsAsByWholeOnes) {
  for (const char* net : {"H=16,N=512,E=64", "H=8,HKV=2,N=600,E=64,causal=1", "gemm:1024x4096x512"}) {
    for (const char* dataflow : {"mas", "flat"}) {
      const bool product = std::string(net).rfind("gemm", 0) == 0;
      const Problem p = problem(net, product ? "gemm" : dataflow, {"clusters=2"});
      TuningOptions whole = options(80), part = options(80);
      whole.sample_steps = 0;
      part.sample_steps = product ? 4000 : 200;
      // Tiles of so small a product are no larger than its smaller one.
      const double bar = product ? 1.15 : 1.05;
      EXPECT_LE(static_cast<double>(cycles_of(p, choose(p, part))),
                bar * static_cast<double>(cycles_of(p, choose(p, whole))))
          << net << " " << dataflow;
    }
  }
}

// A product behind a cache is evaluated with less depth on fewer clusters. Its estimate is near the time of the whole.
TEST(Evaluator, EstimatesAProductOfLessDepth) {
  const MachineConfig machine = config::load_hardware("a100-80gb", {"clusters=12"});
  for (const char* net : {"gemm:512x2048x4096", "gemm:128x4096x8192", "gemm:700x1536x3000"}) {
    const Problem p{machine, workload::load(net), job::parse_dataflow("gemm"), config::load_energy(machine.energy)};
    const std::optional<Sample> sample = sample_of(p, first_fit(p), 20'000);
    ASSERT_TRUE(sample) << net;
    EXPECT_EQ(sample->large.network.gemm()->depth, 512U) << net;
    EXPECT_LT(sample->large.machine.clusters, machine.clusters) << net;
    for (const char* tiles :
         {"nq=128,nkv=64,kd=64,kv=3,m0=128,n0=32,k0=64", "nq=64,nkv=128,kd=256,kv=2,m0=64,n0=32,k0=64"}) {
      job::Schedule schedule = p.schedule;
      schedule.tiling = job::parse_tiling(tiles);
      Evaluator part(p, Objective::kCycles, sample), whole(p, Objective::kCycles);
      const double estimate = part.evaluate(schedule).cycles, cycles = whole.evaluate(schedule).cycles;
      EXPECT_NEAR(estimate / cycles, 1, 0.05) << net << " " << tiles;
    }
  }
}

// Two products in one schedule are evaluated with fewer rows, whose columns stay, or with fewer columns between them.
TEST(Evaluator, EstimatesANetworkOfFewerRowsOrColumns) {
  const MachineConfig machine = config::load_hardware("edge-16nm");
  const std::pair<const char*, bool> networks[] = {
      {"gemm:4096x1024x256,activation=silu,gated=1,down=256,residual=1", true}, {"gemm:4x32768x512,down=512", false}};
  for (const auto& [net, has_fewer_rows] : networks) {
    const Problem p{machine, workload::load(net), job::parse_dataflow("gemm"), config::load_energy(machine.energy)};
    const std::optional<Sample> sample = sample_of(p, first_fit(p), 20'000);
    ASSERT_TRUE(sample) << net;
    const workload::Gemm &part = *sample->large.network.gemm(), &all = *p.network.gemm();
    EXPECT_EQ(part.rows < all.rows, has_fewer_rows) << net;
    EXPECT_EQ(part.columns < all.columns, !has_fewer_rows) << net;
    EXPECT_EQ(part.fusion.down, all.fusion.down) << net;
    for (const char* tiles : {"nkv=64,kd=64,kv=3,m0=16,n0=32,k0=64", "nkv=128,kd=256,kv=2,m0=16,n0=32,k0=64"}) {
      job::Schedule schedule = p.schedule;
      schedule.tiling = job::parse_tiling(fmt::format("nq={},{}", std::min(32U, all.rows), tiles));
      Evaluator by_sample(p, Objective::kCycles, sample), whole(p, Objective::kCycles);
      EXPECT_NEAR(by_sample.evaluate(schedule).cycles / whole.evaluate(schedule).cycles, 1, 0.05)
          << net << " " << tiles;
    }
  }
}

TEST(Tuner, ChoosesTheVariantThatCostsLeast) {
  const Problem p = problem("H=2,N=256,E=64", "weave");
  const std::uint64_t chosen = cycles_of(p, choose(p));
  for (job::Schedule variant : variants_of(p.schedule)) {
    Problem one = p;
    one.schedule = variant;
    try {
      EXPECT_LE(static_cast<double>(chosen), 1.01 * static_cast<double>(cycles_of(one, choose(one))))
          << job::tiling_line(variant.tiling);
    } catch (const std::runtime_error&) {  // a walk that the machine cannot do
    }
  }
}

TEST(Portfolio, IsNoSlowerThanItsDataflows) {
  for (const char* net :
       {"H=3,N=200,E=40", "H=4,N=100,E=64,HKV=1,causal=1", "H=2,E=64,phase=decode,batch=4,cache=300"}) {
    const Problem p = problem(net, "mas", {"clusters=2", "dram.bandwidth=2000GB/s"});
    const Portfolio all = pick_dataflow(p, options(80));
    const double chosen = static_cast<double>(cycles_of(p, all.best().schedule));
    EXPECT_GE(chosen, all.least_cycles) << net;
    for (const Evaluation& c : all.candidates) {
      if (c.is_whole) {
        EXPECT_LE(chosen, c.cycles) << net << " " << c.schedule.text;
      }
    }
  }
}

TEST(Portfolio, SaysWhatItBeats) {
  const auto candidate = [](const char* dataflow, double cycles, bool whole) {
    return Evaluation{job::parse_dataflow(dataflow), {}, cycles, 0, whole};
  };
  Portfolio all;
  all.least_cycles = 500;
  all.candidates = {candidate("mas", 1000, true), candidate("flat", 1100, true), candidate("lean", 1500, false)};
  EXPECT_EQ(gains_text(all),
            "mas beats flat by 10.0%, and by smaller jobs of the same kind lean by 50.0%; no schedule of this layer "
            "takes less than 50.0% of its time");
  all.candidates.resize(1);
  EXPECT_EQ(gains_text(all), "mas alone takes the job; no schedule of this layer takes less than 50.0% of its time");
}

class CacheFolder : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/attnvp-cache-" + std::to_string(::getpid());
    ::setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string folder_;
};

TEST_F(CacheFolder, GivesTheSameChoice) {
  const Problem p = problem("H=2,N=100,E=32", "flat");
  TuningOptions o = options(20);
  const std::string without = job::tiling_line(choose(p, o).tiling);
  o.use_cache = true;
  EXPECT_EQ(job::tiling_line(choose(p, o).tiling), without);
  ASSERT_EQ(Cache::entries().size(), 1U);
  EXPECT_EQ(job::tiling_line(choose(p, o).tiling), without);
  o.evaluations = 21;
  choose(p, o);
  EXPECT_EQ(Cache::entries().size(), 2U) << "other settings are another choice";
  EXPECT_EQ(Cache::clear(), 2U);
  EXPECT_TRUE(Cache::entries().empty());
}

TEST_F(CacheFolder, ThatIsDamagedIsNotUsed) {
  const Problem p = problem("H=2,N=100,E=32", "flat");
  TuningOptions o = options(10);
  const std::string without = job::tiling_line(choose(p, o).tiling);
  std::filesystem::create_directories(folder_ + "/attnvp");
  std::ofstream(Cache::path())
      << "no database, but longer than a hundred bytes so that nobody takes it for an empty one: "
         "0123456789";
  o.use_cache = true;
  EXPECT_EQ(job::tiling_line(choose(p, o).tiling), without);
}

// A key for everything that a choice depends on.
TEST_F(CacheFolder, KeysTellJobsApart) {
  const Problem p = problem("H=2,N=100,E=32");
  const std::string key = cache_key(p, options(20));
  Problem other = p;
  other.machine.l1.size_bytes *= 2;
  EXPECT_NE(cache_key(other, options(20)), key);
  other = p;
  other.network = workload::load("H=2,N=100,E=32,causal=1");
  EXPECT_NE(cache_key(other, options(20)), key);
  other = p;
  other.schedule.tiling = job::parse_tiling("nq=32");
  EXPECT_NE(cache_key(other, options(20)), key);
  EXPECT_NE(cache_key(p, options(21)), key);
  EXPECT_EQ(cache_key(p, options(20)), key);
}

// The shipped tilings fit, and are no slower than the choice by more than it counts as equal; on the networks whose
// 16 x 16 passes divide evenly they are within 3% of the bound.
TEST(ShippedTilings, AreAsGoodAsTheChoice) {
  int checked = 0;
  const std::vector<config::CatalogEntry> tilings = config::list(config::Folder::kTilings);
  for (const config::CatalogEntry& entry : config::list(config::Folder::kNetworks)) {
    const auto named = [&](const config::CatalogEntry& t) { return t.name == entry.name; };
    if (std::none_of(tilings.begin(), tilings.end(), named)) continue;
    const Problem p = problem(entry.name);
    job::Schedule shipped = p.schedule;
    shipped.tiling = job::parse_tiling(entry.name);
    const auto cycles = static_cast<double>(cycles_of(p, shipped));
    EXPECT_LE(cycles, 1.005 * static_cast<double>(cycles_of(p, choose(p)))) << entry.name;
    if (p.network.extents().seq_q % 16 == 0) {
      const double bound = schedule::layer_demand(job::make_job(p.machine, p.network, shipped), p.machine).cycles();
      EXPECT_LE(cycles, 1.03 * bound) << entry.name;
    }
    ++checked;
  }
  EXPECT_EQ(checked, 12);
}

}  // namespace
}  // namespace attnvp::explore
