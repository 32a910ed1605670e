// Accelergy's action counts: what a reader of the file makes of them is the run's energy.
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <set>

#include "platform/machine/energy.h"
#include "platform/machine/hardware.h"
#include "platform/report/power.h"
#include "platform/workload/workload.h"
#include "tests/support/tuned.h"

namespace attnvp {
namespace {

TEST(ActionCounts, TimesTheTableAreTheEnergy) {
  const MachineConfig machine = config::load_hardware("edge");
  const config::EnergyTable table = config::load_energy(machine.energy);
  runs::Runner runner(machine, table, false);
  const job::RunResult result = runner.run(workload::load("H=2,N=64,E=32"), job::parse_dataflow("mas"), nullptr, {});

  const YAML::Node root = YAML::Load(report::action_counts_yaml(result))["action_counts"];
  EXPECT_EQ(root["version"].as<std::string>(), "0.4");
  double energy = 0;
  std::set<std::string> names;
  for (const YAML::Node& of_component : root["local"]) {
    const auto component = of_component["name"].as<std::string>();
    EXPECT_TRUE(names.insert(component).second) << component << " is there twice";
    for (const YAML::Node& action : of_component["action_counts"]) {
      EXPECT_FALSE(action["arguments"]) << "Accelergy's calculator looks for each of them";
      energy +=
          static_cast<double>(action["counts"].as<std::uint64_t>()) *
          table.pj(component, action["name"].as<std::string>(), component == "attnvp.l1" ? machine.l1.size_bytes : 0);
    }
  }
  EXPECT_EQ(names, (std::set<std::string>{"attnvp.dram", "attnvp.l0", "attnvp.l1", "attnvp.mac", "attnvp.vec"}));
  EXPECT_NEAR(energy, result.total_energy_pj(), 1e-9 * result.total_energy_pj());
}

}  // namespace
}  // namespace attnvp
