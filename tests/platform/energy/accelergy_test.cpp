#include <gtest/gtest.h>

#include "models/memory/banked_dram/config.h"
#include "platform/machine/energy.h"
#include "platform/machine/energy/machine_model.h"
#include "platform/machine/hardware.h"
#include "tests/platform/test_files.h"

namespace attnvp::energy {
namespace {

using attnvp::testing::message_of;
using attnvp::testing::TemporaryFolder;

// In the form in which Accelergy leaves its tables of a design.
constexpr const char* kErt = R"(ERT:
    version: '0.4'
    tables:
      - name: chip.DRAM[1..1]
        actions:
          - name: read
            arguments:
                global_cycle_seconds: 1e-09
                action_latency_cycles: 1
            energy: 512.0
          - name: leak
            arguments: {}
            energy: 0.0
      - name: chip.glb[1..1]
        actions:
          - {name: read, arguments: {}, energy: 18.0}
          - {name: write, arguments: {}, energy: 14.0}
          - {name: leak, arguments: {global_cycle_seconds: 2e-09}, energy: 0.5}
      - name: chip.mac[1..168]
        actions:
          - {name: mac_random, arguments: null, energy: 2.2}
          - {name: leak, arguments: null, energy: 1.0}
)";
constexpr const char* kArt = R"(ART:
    version: '0.4'
    tables:
      - name: chip.DRAM[1..1]
        area: 0.0
      - name: chip.glb[1..1]
        area: 217363.37
      - name: chip.mac[1..168]
        area: 191.82
)";

struct Tables {
  TemporaryFolder folder;
  // Of a name of its own where a process has another: a model is read once.
  std::string model(const std::string& lines, const std::string& name = "mine.yaml") {
    folder.write("ERT.yaml", kErt);
    folder.write("ART.yaml", kArt);
    return folder.write(name, "MODEL:\n  version: 1\n  base: cmos\n" + lines);
  }
};

TEST(Accelergy, ItsTablesPriceOurModules) {
  Tables tables;
  const std::string path = tables.model(R"(  ert: ERT.yaml
  art: ART.yaml
  components:
    - {name: attnvp.l1, is: "chip.glb[1..1]", words: 4}
    - {name: attnvp.mac, is: chip.mac, count: 256, actions: {compute: mac_random}}
)");
  const MachineConfig machine;
  const config::EnergyTable table = resolved(config::load_energy(path), machine);
  const config::EnergyTable ours = resolved(config::load_energy("cmos"), machine);
  EXPECT_EQ(table.pj("attnvp.l1", "read", 0), 4.5) << "four words an access";
  EXPECT_EQ(table.pj("attnvp.l1", "write", 0), 3.5);
  EXPECT_EQ(table.pj("attnvp.mac", "compute", 0), 2.2);
  EXPECT_EQ(table.pj("attnvp.dram", "read", 0), ours.pj("attnvp.dram", "read", 0)) << "not asked for";
  const MachineModel model(machine, Technology::of(path));
  std::map<std::string, double> mm2;
  for (const ModelPart& part : model.parts()) mm2[part.module] = part.area_mm2;
  EXPECT_DOUBLE_EQ(mm2["l1"], 0.21736337);
  EXPECT_DOUBLE_EQ(mm2["mac"], 256 * 191.82e-6);
}

// 0.5 pJ in 2 ns, and 168 times 1 pJ in the 1 ns that stands where arguments name no cycle.
TEST(Accelergy, LeakageIsByTheTablesOwnCycle) {
  Tables tables;
  const std::string path = tables.model(R"(  ert: ERT.yaml
  components:
    - {name: attnvp.l1, is: chip.glb}
    - {name: attnvp.mac, is: chip.mac, count: 168, actions: {compute: mac_random}}
)",
                                        "leaks.yaml");
  for (const double hertz : {1e9, 3.75e9}) {
    MachineConfig machine;
    machine.clock_hz = hertz;
    const config::EnergyTable table = resolved(config::load_energy(path), machine);
    EXPECT_NEAR(table.pj(kLeakage, "l1", 0) * hertz, 0.5 / 2e-9, 1e-3) << hertz;
    EXPECT_NEAR(table.pj(kLeakage, "mac", 0) * hertz, 168 / 1e-9, 1) << hertz;
    EXPECT_EQ(table.pj("attnvp.mac", "compute", 0), 2.2) << hertz;
    const MachineModel model(machine, Technology::of(path));
    for (const ModelPart& part : model.parts()) {
      if (part.module != "mac") continue;
      EXPECT_NEAR(part.leakage_mw.value, 168, 1e-9) << hertz;
    }
  }
}

// Tables of our own form: by the cycle that they name, else by the machine's.
TEST(Accelergy, LeakageOfOurOwnTablesIsByTheCycleTheyName) {
  const TemporaryFolder folder;
  const auto table = [&folder](const std::string& cycle) {
    return folder.write(
        "own.yaml",
        "ERT:\n  version: 0.4\n  tables:\n    - name: attnvp.leakage\n      actions:\n        - {name: l1, "
        "arguments: {}, energy: 3" +
            cycle + "}\n");
  };
  MachineConfig machine;
  machine.clock_hz = 2e9;
  EXPECT_DOUBLE_EQ(resolved(config::load_energy(table(", cycle_seconds: 1e-9")), machine).pj(kLeakage, "l1", 0), 1.5);
  EXPECT_DOUBLE_EQ(resolved(config::load_energy(table("")), machine).pj(kLeakage, "l1", 0), 3);
  EXPECT_NE(message_of([&] { config::load_energy(table(", cycle_seconds: 0")); }).find("allowed is more than 0, in s"),
            std::string::npos);
}

TEST(Accelergy, MistakesAreSaid) {
  const auto refusal = [](const std::string& lines) {
    Tables tables;
    const std::string path = tables.model(lines);
    return message_of([&] { Technology technology(path); });
  };
  EXPECT_NE(refusal("  ert: ERT.yaml\n").find("key 'MODEL.components' is missing, and no component"), std::string::npos)
      << refusal("  ert: ERT.yaml\n");
  EXPECT_NE(refusal("  ert: ERT.yaml\n  components: [{name: attnvp.l1, is: chip.buffer}]\n")
                .find("no table has 'chip.buffer'; there are: chip.DRAM, chip.glb, chip.mac"),
            std::string::npos);
  EXPECT_NE(refusal("  ert: ERT.yaml\n  components: [{name: attnvp.mac, is: chip.mac, actions: {compute: mac}}]\n")
                .find("has no action 'mac'"),
            std::string::npos);
  EXPECT_NE(refusal("  ert: ERT.yaml\n  components: [{name: l1, is: chip.glb}]\n").find("begins with 'attnvp.'"),
            std::string::npos);
  EXPECT_NE(refusal("  art: ERT.yaml\n").find("'ERT' is unknown"), std::string::npos) << refusal("  art: ERT.yaml\n");
  EXPECT_NE(refusal("  ert: ERT.yaml\n  components: [{name: attnvp.l1, is: chip.glb, words: 0}]\n").find("more than 0"),
            std::string::npos);
}

}  // namespace
}  // namespace attnvp::energy
