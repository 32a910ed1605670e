// Accelergy's action counts: what a reader of the file makes of them is the run's energy.
#include <gtest/gtest.h>

#include <set>

#include "platform/machine/document.h"
#include "platform/machine/energy.h"
#include "platform/machine/hardware.h"
#include "platform/report/report.h"
#include "platform/workload/workload.h"
#include "tests/support/tuned.h"

namespace attnvp {
namespace {

TEST(ActionCounts, TimesTheTableAreTheEnergy) {
  const MachineConfig machine = config::load_hardware("edge");
  const config::EnergyTable table = config::load_energy(machine.energy);
  runs::Runner runner(machine, table, false);
  const job::RunResult result = runner.run(workload::load("H=2,N=64,E=32"), job::parse_dataflow("mas"), nullptr, {});

  const config::Document document = config::Document::parse(report::action_counts_yaml(result), "counts");
  const config::YamlNode root = document.root()["action_counts"];
  EXPECT_EQ(root["version"].scalar(), "0.4");
  double energy = 0;
  std::set<std::string> names;
  for (const config::YamlNode& of_component : root["local"]) {
    const auto component = of_component["name"].scalar();
    EXPECT_TRUE(names.insert(component).second) << component << " is there twice";
    for (const config::YamlNode& action : of_component["action_counts"]) {
      EXPECT_FALSE(action["arguments"]) << "Accelergy's calculator looks for each of them";
      energy += std::stod(action["counts"].scalar()) *
                table.pj(component, action["name"].scalar(), component == "attnvp.l1" ? machine.l1.size_bytes : 0);
    }
  }
  EXPECT_EQ(names, (std::set<std::string>{"attnvp.dram", "attnvp.l0", "attnvp.l1", "attnvp.mac", "attnvp.vec"}));
  EXPECT_NEAR(energy, result.total_energy_pj(), 1e-9 * result.total_energy_pj());
}

}  // namespace
}  // namespace attnvp
