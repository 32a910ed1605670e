// Tiling search: its lower bound is one, its strategies find what the grid finds, its results can be relied on.
#include "explore/search/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "explore/search/bound.h"
#include "platform/config/catalog.h"
#include "platform/config/energy.h"
#include "platform/config/hardware.h"
#include "platform/config/network.h"
#include "platform/job/job.h"

namespace attnvp::explore {
namespace {

Problem problem(const std::string& net, const std::string& dataflow = "mas") {
  const MachineConfig machine = config::load_hardware("edge");
  return {machine, config::load_network(net), job::parse_dataflow(dataflow), config::load_energy(machine.energy)};
}

SearchResult run_search(const Problem& p, const std::string& strategy, std::uint64_t budget, std::uint64_t seed = 1) {
  const Space space(p);
  SearchOptions options;
  options.strategy = strategy;
  options.budget = budget;
  options.seed = seed;
  return search(p, space, options);
}

job::Result simulate(const Problem& p, const job::Tiling& tiling) {
  job::Runner runner(p.machine, p.energy, false);
  job::Schedule schedule = p.schedule;
  schedule.tiling = tiling;
  return runner.run(p.network, schedule, nullptr, {});
}

// The proof's test: no simulated tiling takes fewer cycles or less energy than its bound.
TEST(Bound, IsNeverAboveASimulation) {
  for (const char* net : {"t5-mini", "vit-b-14", "H=3,N=100,E=40"}) {
    for (const char* dataflow : {"mas", "flat", "layerwise"}) {
      const Problem p = problem(net, dataflow);
      const Space space(p);
      const Bound bound(p);
      job::Runner runner(p.machine, p.energy, false);
      for (std::uint64_t i = 0; i < 40; ++i) {
        job::Schedule schedule = p.schedule;
        schedule.tiling = space.tiling(i * 7919 % space.size());
        if (!bound.fits(schedule.tiling)) {
          EXPECT_THROW(runner.run(p.network, schedule, nullptr, {}), std::runtime_error) << net << " " << dataflow;
          continue;
        }
        const job::Result r = runner.run(p.network, schedule, nullptr, {});
        EXPECT_LE(bound.cycles(schedule.tiling), static_cast<double>(r.cycles)) << net << " " << dataflow;
        EXPECT_NEAR(bound.energy_pj(schedule.tiling), r.total_energy_pj(), r.total_energy_pj() * 1e-9)
            << net << " " << dataflow;
      }
    }
  }
}

// layerwise by tiles of scores, as L1 is too small for whole rows.
TEST(Bound, IsNeverAboveASimulationByTiles) {
  int by_tiles = 0;
  for (const char* net : {"H=2,N=1024,E=32", "H=3,NQ=100,NKV=900,E=40"}) {
    for (const std::uint32_t port : {64, 16}) {
      Problem p = problem(net, "layerwise");
      p.machine.l1.size_bytes = 320 << 10;
      p.machine.l1.port_bytes_per_cycle = port;
      const Space space(p);
      const Bound bound(p);
      job::Runner runner(p.machine, p.energy, false);
      for (std::uint64_t i = 0; i < 80; ++i) {
        job::Schedule schedule = p.schedule;
        schedule.tiling = space.tiling(i * 7919 % space.size());
        if (!bound.fits(schedule.tiling)) continue;
        const job::Result r = runner.run(p.network, schedule, nullptr, {});
        by_tiles += r.schedule.tiling.used("np") > 0 ? 1 : 0;
        EXPECT_LE(bound.cycles(schedule.tiling), static_cast<double>(r.cycles)) << net << " " << i;
        EXPECT_NEAR(bound.energy_pj(schedule.tiling), r.total_energy_pj(), r.total_energy_pj() * 1e-9) << net;
      }
    }
  }
  EXPECT_GE(by_tiles, 40);
}

TEST(Search, StrategiesReachTheGridsOptimumInATenthOfItsRuns) {
  const Problem p = problem("H=2,N=256,E=32");
  const SearchResult grid = run_search(p, "grid", 0);
  ASSERT_TRUE(grid.complete);
  for (const char* strategy : {"ga", "mcts"}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const SearchResult r = run_search(p, strategy, grid.points / 10, seed);
      EXPECT_LE(r.cost, 1.01 * grid.cost) << strategy << ", seed " << seed;
      EXPECT_GE(r.cost, grid.cost);
      EXPECT_GE(r.cost, r.bound);
    }
  }
}

TEST(Search, IsDeterministic) {
  const Problem p = problem("t5-mini");
  const SearchResult a = run_search(p, "ga", 60, 3);
  const SearchResult b = run_search(p, "ga", 60, 3);
  ASSERT_EQ(a.log.size(), b.log.size());
  for (std::size_t i = 0; i < a.log.size(); ++i) EXPECT_EQ(a.log[i].cost, b.log[i].cost);
  EXPECT_EQ(a.cost, b.cost);
}

TEST(Search, AutoIsNoWorseThanTheDefault) {
  const Problem p = problem("vit-b-16");
  const job::Tiling tiling = find_tiling(p.machine, p.network, p.schedule, p.energy, 60);
  EXPECT_LE(simulate(p, tiling).cycles, simulate(p, {}).cycles);
}

// The shipped tilings: they fit, and are at least as good as firmware's own choice; on the networks whose 16 x 16
// passes divide evenly within 0.5% of the bound.
TEST(Search, ShippedTilingsHold) {
  int checked = 0;
  const std::vector<config::CatalogEntry> tilings = config::list(config::Folder::kTilings);
  for (const config::CatalogEntry& entry : config::list(config::Folder::kNetworks)) {
    const bool shipped = std::any_of(tilings.begin(), tilings.end(),
                                     [&](const config::CatalogEntry& t) { return t.name == entry.name; });
    if (!shipped) continue;
    const Problem p = problem(entry.name);
    const job::Tiling tiling = job::parse_tiling(entry.name);
    const std::uint64_t cycles = simulate(p, tiling).cycles;
    EXPECT_LE(cycles, simulate(p, {}).cycles) << entry.name;
    if (p.network.seq_q % 16 == 0) {
      EXPECT_LE(static_cast<double>(cycles), 1.005 * run_search(p, "ga", 1).bound) << entry.name;
    }
    ++checked;
  }
  EXPECT_EQ(checked, 12);
}

}  // namespace
}  // namespace attnvp::explore
