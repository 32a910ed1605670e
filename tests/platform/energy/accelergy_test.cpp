#include <gtest/gtest.h>

#include "models/banked_dram/config.h"
#include "platform/config/energy.h"
#include "platform/config/hardware.h"
#include "platform/energy/machine_model.h"
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
          - {name: leak, arguments: {}, energy: 0.5}
      - name: chip.mac[1..168]
        actions:
          - {name: mac_random, arguments: null, energy: 2.2}
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
  std::string model(const std::string& lines) {
    folder.write("ERT.yaml", kErt);
    folder.write("ART.yaml", kArt);
    return folder.write("mine.yaml", "MODEL:\n  version: 1\n  base: cmos\n" + lines);
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
  EXPECT_NEAR(table.pj(kLeakage, "l1", 0), 0.5, 1e-12) << "of a cycle";
  EXPECT_EQ(table.pj("attnvp.dram", "read", 0), ours.pj("attnvp.dram", "read", 0)) << "not asked for";
  const MachineModel model(machine, Technology::of(path));
  std::map<std::string, double> mm2;
  for (const Part& part : model.parts()) mm2[part.module] = part.area_mm2;
  EXPECT_DOUBLE_EQ(mm2["l1"], 0.21736337);
  EXPECT_DOUBLE_EQ(mm2["mac"], 256 * 191.82e-6);
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
