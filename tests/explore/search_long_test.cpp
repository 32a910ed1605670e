// The search campaign over all networks; minutes, therefore labelled long.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "explore/search/bound.h"
#include "explore/search/search.h"
#include "platform/config/catalog.h"
#include "platform/config/energy.h"
#include "platform/config/hardware.h"
#include "platform/config/network.h"
#include "platform/job/job.h"

namespace attnvp::explore {
namespace {

SearchResult run_search(const Problem& p, const std::string& strategy, std::uint64_t budget, std::uint64_t seed) {
  SearchOptions options;
  options.strategy = strategy;
  options.budget = budget;
  options.seed = seed;
  return search(p, Space(p), options);
}

// Within 1% of the grid's optimum in a tenth of the simulations that the grid itself, which prunes too, spends.
TEST(SearchCampaign, StrategiesReachTheGridsOptimumOnAtLeastTenNetworks) {
  const MachineConfig machine = config::load_hardware("edge");
  const config::EnergyTable energy = config::load_energy(machine.energy);
  int networks = 0;
  std::vector<int> reached(2, 0);
  for (const config::CatalogEntry& entry : config::list(config::Folder::kNetworks)) {
    const Problem p{machine, config::load_network(entry.name), job::parse_dataflow("mas"), energy};
    const SearchResult grid = run_search(p, "grid", 0, 1);
    ASSERT_TRUE(grid.complete);
    const std::uint64_t budget = grid.evaluations / 10;
    std::printf("%-12s grid %.0f in %zu of %zu;", entry.name.c_str(), grid.cost,
                static_cast<std::size_t>(grid.evaluations), static_cast<std::size_t>(grid.points));
    const char* strategies[] = {"ga", "mcts"};
    for (int s = 0; s < 2; ++s) {
      double worst = 0;
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const SearchResult r = run_search(p, strategies[s], budget, seed);
        EXPECT_LE(r.evaluations, budget + 1);  // one more for the default tiling that ga starts from
        EXPECT_GE(r.cost, r.bound);
        worst = std::max(worst, r.cost / grid.cost - 1);
      }
      std::printf(" %s +%.3f%%", strategies[s], 100 * worst);
      if (worst <= 0.01) ++reached[static_cast<std::size_t>(s)];
    }
    std::printf("\n");
    ++networks;
  }
  EXPECT_EQ(networks, 12);
  EXPECT_GE(reached[0], 10) << "ga";
  EXPECT_GE(reached[1], 10) << "mcts";
}

// The bound on shapes, dataflows and machines at random.
TEST(SearchCampaign, BoundIsNeverAboveASimulation) {
  const std::vector<std::string> machines = {"edge", "edge-small", "edge-large"};
  const std::vector<std::string> dataflows = {"mas", "flat", "flat:prefetch=off", "tileflow", "layerwise", "softpipe"};
  std::uint64_t state = 12345;
  const auto next = [&state](std::uint64_t n) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (state >> 33) % n;
  };
  int simulated = 0;
  for (int round = 0; round < 60; ++round) {
    const MachineConfig machine = config::load_hardware(machines[next(machines.size())]);
    const std::string shape = "B=" + std::to_string(1 + next(2)) + ",H=" + std::to_string(1 + next(5)) +
                              ",N=" + std::to_string(1 + next(700)) + ",E=" + std::to_string(1 + next(140));
    for (const std::string& dataflow : dataflows) {
      const Problem p{machine, config::load_network(shape), job::parse_dataflow(dataflow),
                      config::load_energy(machine.energy)};
      const Space space(p);
      const Bound bound(p);
      job::Runner runner(p.machine, p.energy, false);
      for (int i = 0; i < 20; ++i) {
        job::Schedule schedule = p.schedule;
        schedule.tiling = space.tiling(next(space.size()));
        if (!bound.fits(schedule.tiling)) continue;
        const job::Result r = runner.run(p.network, schedule, nullptr, {});
        ++simulated;
        EXPECT_LE(bound.cycles(schedule.tiling), static_cast<double>(r.cycles))
            << machine.name << " " << shape << " " << dataflow;
        EXPECT_NEAR(bound.energy_pj(schedule.tiling), r.total_energy_pj(), r.total_energy_pj() * 1e-9)
            << machine.name << " " << shape << " " << dataflow;
      }
    }
  }
  EXPECT_GT(simulated, 2000);
}

}  // namespace
}  // namespace attnvp::explore
