#include "platform/machine/catalog.h"
#include "platform/machine/energy.h"
#include "tests/platform/test_files.h"

namespace attnvp::config {
namespace {

using attnvp::testing::message_of;
using attnvp::testing::TemporaryFolder;

// A table whose one component's lines are given; they start in line 4.
std::string table(const std::string& component) { return "ERT:\n  version: 0.4\n  tables:\n" + component; }

std::string refusal(const std::string& text) {
  TemporaryFolder folder;
  const std::string path = folder.write("my.yaml", text);
  return message_of([&] { load_energy(path); });
}

std::string action_refusal(const std::string& keys) {
  return refusal(table("    - name: m\n      actions:\n        - {name: read, " + keys + "}\n"));
}

TEST(Energy, EveryShippedTableLoads) {
  for (const CatalogEntry& entry : list(Folder::kEnergy)) EXPECT_NO_THROW(load_energy(entry.name)) << entry.name;
}

TEST(Energy, PatHasTheTimeloopValues) {
  const EnergyTable pat = load_energy("pat");
  EXPECT_EQ(pat.pj("attnvp.dram", "read", 6ULL << 30), 200.0);
  EXPECT_EQ(pat.pj("attnvp.dram", "write", 0), 200.0);
  EXPECT_NEAR(pat.pj("attnvp.l1", "read", 5 << 20), 1 + 0.05025 * (5120 - 0.5), 1e-9);
  EXPECT_NEAR(pat.pj("attnvp.l1", "write", 512), 1.0, 1e-12);
  EXPECT_EQ(pat.pj("attnvp.l0", "read", 32 << 10), 0.975);
  EXPECT_EQ(pat.pj("attnvp.l0", "write", 32 << 10), 0.975);
  EXPECT_EQ(pat.pj("attnvp.mac", "compute", 0), 1.0);
  EXPECT_EQ(pat.pj("attnvp.vec", "compute", 0), 1.0);
}

TEST(Energy, ACountWithoutAnEnergyIsAnError) {
  const EnergyTable pat = load_energy("pat");
  EXPECT_TRUE(pat.has("attnvp.l1", "read"));
  EXPECT_FALSE(pat.has("attnvp.l1", "refresh"));
  EXPECT_FALSE(pat.has("attnvp.l2", "read"));
  EXPECT_EQ(message_of([&] { pat.pj("attnvp.l1", "refresh", 0); }),
            pat.source() + ": component 'attnvp.l1' has no energy for action 'refresh'; the table has: read, write");
  EXPECT_EQ(message_of([&] { pat.pj("attnvp.l2", "read", 0); }),
            pat.source() +
                ": component 'attnvp.l2' has no energies; the table has: attnvp.dram, attnvp.fifo, attnvp.l0, "
                "attnvp.l1, attnvp.mac, attnvp.node, attnvp.vec");
}

TEST(Energy, ReadsWhatAccelergyWrites) {
  TemporaryFolder folder;
  const EnergyTable mine =
      load_energy(folder.write("ERT.yaml",
                               "ERT:\n    version: '0.4'\n    tables:\n      - name: system.glb[1..1]\n      "
                               "  actions:\n          - name: write\n"
                               "            arguments: {}\n            energy: 26.156875\n          - name: "
                               "leak\n            energy: 0\n"));
  EXPECT_EQ(mine.pj("system.glb", "write", 1 << 20), 26.156875);
  EXPECT_EQ(mine.pj("system.glb", "leak", 1 << 20), 0.0);
}

TEST(Energy, OfEnergiesByArgumentsTheGreatestStandsAndTheRangeHoldsAll) {
  TemporaryFolder folder;
  const EnergyTable mine = load_energy(folder.write("ERT.yaml", R"(ERT:
  version: 0.3
  tables:
  - name: chip.pad[0..2]
    actions:
    - {name: fill, arguments: {address_delta: 0, data_delta: 0}, energy: 3}
    - {name: fill, arguments: {address_delta: 1, data_delta: 1}, energy: 8}
    - {name: fill, arguments: {address_delta: 0, data_delta: 1}, energy: 6}
    - {name: leak, arguments: null, energy: 0}
  - name: chip.DRAM[1..1]
    actions:
    - name: read
      arguments:
        global_cycle_seconds: 1e-09
        action_latency_cycles: 1
      energy: 512.0
)"));
  EXPECT_EQ(mine.pj("chip.pad", "fill", 0), 8);
  EXPECT_EQ(mine.range("chip.pad", "fill").low, 3.0 / 8);
  EXPECT_EQ(mine.range("chip.pad", "fill").high, 1);
  EXPECT_EQ(mine.pj("chip.DRAM", "read", 0), 512);
}

TEST(Energy, RefusesBadEnergies) {
  const std::string where = "my.yaml:6: component 'm', action 'read': key ";
  const std::string allowed = "; allowed is a plain number, 0 or more, in pJ";
  EXPECT_EQ(action_refusal("energy: -1"), where + "'energy': found '-1', which is negative" + allowed);
  EXPECT_EQ(action_refusal("energy: much"), where + "'energy': found 'much', which is not a number" + allowed);
  EXPECT_EQ(action_refusal("energy: .inf"), where + "'energy': found '.inf', which is not a number" + allowed);
  EXPECT_EQ(action_refusal("energy: 1e999"), where + "'energy': found '1e999', which is out of range" + allowed);
  EXPECT_EQ(action_refusal("energy: 5 pJ"), where + "'energy': found '5 pJ', which is not a plain number" + allowed);
  EXPECT_EQ(action_refusal("energy: [1]"), where + "'energy' must have one value, found a list");
  EXPECT_EQ(action_refusal("energy: 1, energy_per_kib: -2"),
            where + "'energy_per_kib': found '-2', which is negative" + allowed);
  EXPECT_EQ(action_refusal("energy_per_kib: 1"), where + "'energy' is missing");
  EXPECT_EQ(action_refusal("energy: 1, arguments: 3"), where + "'arguments' must be a map of keys, found '3'");
}

TEST(Energy, RefusesUnknownAndDuplicateKeys) {
  EXPECT_EQ(action_refusal("energi: 1"), "my.yaml:6: key 'energi' is unknown; did you mean 'energy'?");
  EXPECT_EQ(action_refusal("power: 1"),
            "my.yaml:6: key 'power' is unknown; allowed: name, arguments, energy, energy_per_kib, low, high, "
            "cycle_seconds");
  EXPECT_EQ(action_refusal("energy: 1, energy: 1"), "my.yaml:6: key 'energy' is given twice, first in line 6");
  EXPECT_EQ(refusal("ART:\n  x: 1\n"), "my.yaml:1: key 'ART' is unknown; did you mean 'ERT'?");
  EXPECT_EQ(refusal("ERT:\n  version: 0.4\n  unit: pJ\n"),
            "my.yaml:3: key 'unit' is unknown; allowed: version, tables");
  const std::string m = "    - {name: m, actions: [{name: a, energy: 1}]}\n";
  EXPECT_EQ(refusal(table(m + m)), "my.yaml:5: component 'm' is given twice");
  EXPECT_NE(
      refusal(table("    - {name: m, actions: [{name: a, energy: 1}, {name: a, arguments: {b: 1}, energy: 2}]}\n"))
          .find("is given twice"),
      std::string::npos);
  EXPECT_EQ(refusal(table("    - {name: m, actions: [{name: a, energy: 1}, {name: a, energy: 2}]}\n")),
            "my.yaml:4: component 'm', action 'a' is given twice");
}

TEST(Energy, RefusesTheWrongShape) {
  EXPECT_EQ(refusal("ERT: 1\n"), "my.yaml:1: key 'ERT' must be a map of keys, found '1'");
  EXPECT_EQ(refusal("ERT: {tables: []}\n"), "my.yaml:1: key 'ERT': key 'version' is missing");
  EXPECT_EQ(refusal("ERT: {version: 0.4}\n"), "my.yaml:1: key 'ERT': key 'tables' is missing");
  EXPECT_EQ(refusal("ERT: {version: 0.2, tables: []}\n"),
            "my.yaml:1: key 'ERT.version': found '0.2'; allowed: 0.3, 0.4");
  EXPECT_EQ(refusal("ERT: {version: 0.4, tables: []}\n"), "my.yaml:1: key 'ERT.tables' holds no component");
  EXPECT_EQ(refusal("ERT: {version: 0.4, tables: {m: 1}}\n"),
            "my.yaml:1: key 'ERT.tables' must be a list, found a map");
  EXPECT_EQ(refusal(table("    - m\n")), "my.yaml:4: an entry of 'ERT.tables' must be a map of keys, found 'm'");
  EXPECT_EQ(refusal(table("    - actions: []\n")), "my.yaml:4: an entry of 'ERT.tables': key 'name' is missing");
  EXPECT_EQ(refusal(table("    - name: ''\n")), "my.yaml:4: an entry of 'ERT.tables': key 'name': found an empty text");
  EXPECT_EQ(refusal(table("    - name: m\n")), "my.yaml:4: component 'm': key 'actions' is missing");
  EXPECT_EQ(refusal(table("    - {name: m, actions: []}\n")), "my.yaml:4: component 'm' has no actions");
  EXPECT_EQ(refusal(table("    - {name: m, actions: [{energy: 1}]}\n")),
            "my.yaml:4: component 'm': an action: key 'name' is missing");
  EXPECT_EQ(message_of([] { load_energy("pta"); }).find("'pta' is not in "), 0u);
}

}  // namespace
}  // namespace attnvp::config
