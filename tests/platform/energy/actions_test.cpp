// Energies of single actions in a model's file, in place of the model's.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "models/memory/config.h"
#include "platform/machine/energy.h"
#include "platform/machine/energy/machine_model.h"
#include "tests/platform/test_files.h"

namespace attnvp::energy {
namespace {

using attnvp::testing::message_of;
using attnvp::testing::TemporaryFolder;

MachineConfig at(const std::string& tech) {
  MachineConfig machine;
  machine.technology.tech = tech;
  return machine;
}

std::string file_with(const TemporaryFolder& folder, const std::string& entry) {
  static int number = 0;  // files are known by their names
  return folder.write("actions-" + std::to_string(++number) + ".yaml",
                      "MODEL:\n  version: 1\n  base: cmos\n  actions:\n    - {" + entry + "}\n");
}

TEST(Actions, ScaleFromTheirNode) {
  const TemporaryFolder folder;
  const std::string file = file_with(folder,
                                     "component: attnvp.mac, action: compute, pj: 10, nm: 16, low: 0.5, high: 2, "
                                     "provenance: assumed, source: test");
  const config::EnergyTable model = config::load_energy(file);
  EXPECT_DOUBLE_EQ(resolved(model, at("16nm")).pj("attnvp.mac", "compute", 0), 10);
  EXPECT_DOUBLE_EQ(resolved(model, at("7nm")).pj("attnvp.mac", "compute", 0), 10 * energy_scale(16, 7));
  EXPECT_EQ(resolved(model, at("7nm")).range("attnvp.mac", "compute").high, 2);
  EXPECT_NE(resolved(model, at("7nm")).pj("attnvp.mac", "compute_int8", 0), 10);
}

TEST(Actions, StandingPowerIsThatOfAnyClockAndNode) {
  const TemporaryFolder folder;
  const std::string file =
      file_with(folder, "component: attnvp.leakage, action: l1, mw: 500, provenance: assumed, source: test");
  const config::EnergyTable model = config::load_energy(file);
  for (const char* tech : {"16nm", "7nm"}) {
    for (const double clock_hz : {1e9, 2e9}) {
      MachineConfig machine = at(tech);
      machine.clock_hz = clock_hz;
      // 500 mW for one cycle.
      EXPECT_NEAR(resolved(model, machine).pj("attnvp.leakage", "l1", 0), 500e-3 / clock_hz * 1e12, 1e-9);
      const MachineModel parts(machine, Technology::of(model.source()));
      const auto l1 = std::find_if(parts.parts().begin(), parts.parts().end(),
                                   [](const ModelPart& part) { return part.module == "l1"; });
      EXPECT_NEAR(l1->leakage_mw.value, 500, 1e-9);
    }
  }
}

TEST(Actions, SayWhatIsWrong) {
  const std::string rest = ", provenance: assumed, source: test";
  const auto error = [](const std::string& entry) {
    const TemporaryFolder folder;
    return message_of([&] { (void)Technology(file_with(folder, entry)); });
  };
  const std::string l1 = "component: attnvp.l1, action: read";
  EXPECT_NE(error(l1 + rest).find("allowed is one of 'pj' and 'mw'"), std::string::npos);
  EXPECT_NE(error(l1 + ", pj: 1, mw: 1" + rest).find("allowed is one of 'pj' and 'mw'"), std::string::npos);
  EXPECT_NE(error(l1 + ", mw: 1" + rest).find("allowed for attnvp.leakage"), std::string::npos);
  EXPECT_NE(error(l1 + ", pj: 1, nm: 3" + rest).find("allowed is 4 to 65"), std::string::npos);
  EXPECT_NE(error("component: attnvp.l1, pj: 1" + rest).find("key 'action' is missing"), std::string::npos);
  EXPECT_NE(error(l1 + ", pj: 1, provenance: guessed, source: test").find("'guessed'"), std::string::npos);
}

// Below 7 nm the equations continue from 10 nm to 7 nm; TSMC announced 30% less power of 5 nm against 7 nm.
TEST(Scaling, ContinuesBelow7Nanometres) {
  const double step = std::log(energy_scale(10, 7)) / std::log(10.0 / 7);
  EXPECT_NEAR(std::log(energy_scale(7, 5)) / std::log(7.0 / 5), step, 0.2);
  EXPECT_NEAR(energy_scale(7, 5), 0.7, 0.03);
  EXPECT_LT(energy_scale(7, 4), energy_scale(7, 5));
  EXPECT_LT(area_scale(7, 5), 0.65);
}

}  // namespace
}  // namespace attnvp::energy
