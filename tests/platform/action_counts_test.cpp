// Accelergy's action counts: what a reader of the file makes of them is the run's energy.
#include "platform/report/action_counts.h"

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <set>

#include "platform/config/energy.h"
#include "platform/config/hardware.h"
#include "platform/config/network.h"

namespace attnvp {
namespace {

TEST(ActionCounts, TimesTheTableAreTheEnergy) {
  const MachineConfig machine = config::load_hardware("edge");
  const config::EnergyTable table = config::load_energy(machine.energy);
  job::Runner runner(machine, table, false);
  const job::Result result = runner.run(config::load_network("H=2,N=64,E=32"), job::parse_dataflow("mas"), nullptr, {});

  const YAML::Node root = YAML::Load(report::action_counts_yaml(result))["action_counts"];
  EXPECT_EQ(root["version"].as<std::string>(), "0.4");
  double energy = 0;
  std::set<std::string> names;
  for (const YAML::Node& module : root["local"]) {
    const auto name = module["name"].as<std::string>();
    EXPECT_TRUE(names.insert(name).second) << name << " is there twice";
    const std::string component = "attnvp." + name.substr(name.rfind('.') + 1);
    for (const YAML::Node& action : module["action_counts"]) {
      EXPECT_TRUE(action["arguments"].IsMap());
      energy +=
          static_cast<double>(action["counts"].as<std::uint64_t>()) *
          table.pj(component, action["name"].as<std::string>(), component == "attnvp.l1" ? machine.l1.size_bytes : 0);
    }
  }
  EXPECT_EQ(names.count("attnvp.cluster0.l1"), 1U);
  EXPECT_EQ(names.size(), 2U + 3U * machine.cores);  // DRAM, L1; L0, MAC and VEC per core
  EXPECT_NEAR(energy, result.total_energy_pj(), 1e-9 * result.total_energy_pj());
}

}  // namespace
}  // namespace attnvp
