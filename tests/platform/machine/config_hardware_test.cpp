#include <limits>

#include "platform/machine/catalog.h"
#include "platform/machine/hardware.h"
#include "tests/platform/test_files.h"

namespace attnvp::config {
namespace {

using attnvp::testing::message_of;
using attnvp::testing::TemporaryFolder;

class Hardware : public ::testing::Test {
 protected:
  // Loads a file of this text. The message, when it is refused, without the path of the file ("my.yaml:3:
  // ...").
  MachineConfig load(const std::string& text, const std::vector<std::string>& overrides = {}) {
    return load_hardware(folder_.write("my.yaml", text), overrides);
  }
  std::string refusal(const std::string& text, const std::vector<std::string>& overrides = {}) {
    return message_of([&] { load(text, overrides); });
  }

  TemporaryFolder folder_;
};

bool same(const MachineConfig& a, const MachineConfig& b) { return to_yaml(a) == to_yaml(b); }

TEST_F(Hardware, EveryShippedMachineLoads) {
  std::vector<std::string> names;
  for (const CatalogEntry& entry : list(Folder::kHardware)) {
    EXPECT_EQ(load_hardware(entry.name).name, entry.name);
    EXPECT_FALSE(entry.description.empty()) << entry.path;
    names.push_back(entry.name);
  }
  for (const char* name : {"cluster3", "edge", "edge-large", "edge-small"}) {
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  }
}

TEST_F(Hardware, EdgeIsTheDefaultMachineAndThePapers) {
  const MachineConfig edge = load_hardware("edge");
  MachineConfig as_default = edge;  // but for what the paper's tables of energy imply
  EXPECT_EQ(edge.energy, "pat");
  EXPECT_EQ(edge.mac.accumulators, "l0");
  as_default.energy = MachineConfig{}.energy;
  as_default.mac.accumulators = MachineConfig{}.mac.accumulators;
  EXPECT_TRUE(same(as_default, MachineConfig{}));
  EXPECT_EQ(edge.clock_hz, 3.75e9);
  EXPECT_EQ(edge.cores, 2u);
  EXPECT_EQ(edge.mac.rows * edge.mac.columns, 256u);
  EXPECT_EQ(edge.vec.lanes, 256u);
  EXPECT_EQ(edge.l1.size_bytes, 5u << 20);
  EXPECT_EQ(edge.dram.bytes_per_second, 30e9);
  EXPECT_EQ(edge.dram.size_bytes, 6ULL << 30);
}

TEST_F(Hardware, VariantsInheritFromEdge) {
  const MachineConfig small = load_hardware("edge-small");
  EXPECT_EQ(small.cores, 1u);
  EXPECT_EQ(small.vec.lanes, 128u);
  EXPECT_EQ(small.l1.size_bytes, 1u << 20);
  EXPECT_EQ(small.dram.bytes_per_second, 15e9);
  EXPECT_EQ(small.clock_hz, 3.75e9);
  const MachineConfig large = load_hardware("edge-large");
  EXPECT_EQ(large.clusters, 2u);
  EXPECT_EQ(large.cores, 4u);
  EXPECT_EQ(large.l1.size_bytes, 16u << 20);
  EXPECT_EQ(large.dram.bytes_per_second, 120e9);
  EXPECT_EQ(load_hardware("cluster3").clusters, 3u);
}

TEST_F(Hardware, EffectiveYamlReadsBackToTheSameMachine) {
  MachineConfig machine = load_hardware("edge-large", {"name=\"odd\": #1 \\ name", "dma.arbitration=round-robin"});
  EXPECT_TRUE(same(load(to_yaml(machine)), machine));
  EXPECT_EQ(load(to_yaml(machine)).name, "\"odd\": #1 \\ name");
  for (const char* name : {"null", "~", "12", "true", "-", "a b", "'", "é"}) {
    machine.name = name;
    EXPECT_EQ(load(to_yaml(machine)).name, name);
  }
}

TEST_F(Hardware, EffectiveYamlNestsSections) {
  const std::string yaml = to_yaml(MachineConfig{});
  EXPECT_EQ(yaml.substr(0, 122),
            "name: edge\nclock: 3.75 GHz\nclusters: 1\ncluster_groups: 1\ncores: 2\nmac:\n  rows: 16\n  columns: 16\n  "
            "weight_arrays: 0\n  pipel");
  EXPECT_NE(yaml.find("l1:\n  size: 5 MiB\n  banks: 16\n  bank_bandwidth: 32 B/cycle\n"), std::string::npos);
  EXPECT_NE(yaml.find("dram:\n  policy: fixed\n  size: 6 GiB\n  bandwidth: 30 GB/s\n  latency: 20 ns\n"),
            std::string::npos);
}

TEST_F(Hardware, AFileNeedsToSayOnlyWhatDiffers) {
  const MachineConfig machine = load("l1: {size: 2 MiB}\nclock: 1 GHz\ndma.channels: 4\n");
  EXPECT_EQ(machine.name, "my");
  EXPECT_EQ(machine.l1.size_bytes, 2u << 20);
  EXPECT_EQ(machine.clock_hz, 1e9);
  EXPECT_EQ(machine.dma.channels, 4u);
  EXPECT_EQ(machine.cores, 2u);
}

TEST_F(Hardware, OverridesComeLastAndTheLastWins) {
  const MachineConfig machine =
      load("l1: {size: 2 MiB}", {"l1.size=3 MiB", " l1.size = 4 MiB ", "dma.arbitration=round-robin"});
  EXPECT_EQ(machine.l1.size_bytes, 4u << 20);
  EXPECT_EQ(machine.dma.arbitration, DmaArbitration::kRoundRobin);
}

TEST_F(Hardware, CoresMayBeAListOfWhatTheyDifferIn) {
  const std::string text = "mac: {columns: 8}\ncores:\n  - mac: {rows: 32}\n    l0.size: 128 KiB\n  - {}\n";
  const MachineConfig machine = load(text);
  EXPECT_EQ(machine.cores, 2u);
  EXPECT_EQ(machine.core(0).mac.rows, 32u);
  EXPECT_EQ(machine.core(0).mac.columns, 8u);
  EXPECT_EQ(machine.core(0).l0.size_bytes, 128u << 10);
  EXPECT_EQ(machine.core(1).mac.rows, 16u);
  EXPECT_EQ(machine.macs_per_cycle(), 32 * 8 + 16 * 8);
  const std::string yaml = to_yaml(machine);
  EXPECT_NE(yaml.find("cores:\n  - mac:\n      rows: 32\n    l0:\n      size: 128 KiB\n  - {}\nmac:\n"),
            std::string::npos)
      << yaml;
  EXPECT_TRUE(same(load(yaml), machine));
  EXPECT_NE(machine_hash(machine), machine_hash(load("mac: {columns: 8}\n")));
  EXPECT_TRUE(same(load("cores: [{}, {mac: {rows: 16}}, {}]\n"), load("cores: 3\n")));
}

TEST_F(Hardware, KeysOfSingleCoresCanBeSetByTheirPath) {
  const std::string two = "cores: [{mac: {rows: 32}}, {}]\n";
  const MachineConfig machine = load(two, {"cores.1.mac.rows=8", "mac.rows=64", "mac.columns=4"});
  EXPECT_EQ(machine.core(0).mac.rows, 32u);
  EXPECT_EQ(machine.core(1).mac.rows, 8u);
  EXPECT_EQ(machine.core(1).mac.columns, 4u);
  EXPECT_TRUE(same(load(two, {"cores=3"}), load("cores: 3\n"))) << "a number makes all alike";
  EXPECT_EQ(refusal(two, {"cores.2.mac.rows=8"}),
            "--set cores.2.mac.rows=8: key 'cores.2.mac.rows': the machine has no core 2; allowed are cores 0 to 1");
  EXPECT_EQ(refusal(two, {"cores.1.mac.rowz=8"}),
            "--set cores.1.mac.rowz=8: key 'cores.1.mac.rowz' is unknown; did you mean 'cores.1.mac.rows'?");
  EXPECT_NE(refusal(two, {"cores.1.l1.size=1 MiB"}).find("key 'cores.1.l1.size' is unknown"), std::string::npos);
  EXPECT_NE(refusal(two, {"cores.x.mac.rows=8"}).find("key 'cores.x.mac.rows' is unknown"), std::string::npos);
}

TEST_F(Hardware, RefusesListsOfCoresThatMakeNoSense) {
  const auto at = [&](const std::string& text) {
    const std::string message = refusal(text);
    return message.substr(message.find("my.yaml"));
  };
  EXPECT_EQ(at("cores:\n  - {}\n  - mac: {rowz: 3}\n"),
            "my.yaml:3: key 'cores.1.mac.rowz' is unknown; did you mean 'cores.1.mac.rows'?");
  EXPECT_EQ(at("cores: [{mac: {rows: 0}}]\n"), "my.yaml:1: key 'cores.0.mac.rows': found '0'; allowed is 1 to 1024");
  EXPECT_EQ(at("cores: []\n"), "my.yaml:1: key 'cores': found '0'; allowed is 1 to 64");
  EXPECT_EQ(at("cores: [1, 2]\n"), "my.yaml:1: key 'cores.0' must be a map of keys, found '1'");
  EXPECT_EQ(at("cores: {mac: {rows: 3}}\n"), "my.yaml:1: key 'cores' must have one value, found a map");
  EXPECT_EQ(at("clusters: {l1: {size: 1 MiB}}\n"), "my.yaml:1: key 'clusters' must have one value, found a map");
  EXPECT_EQ(at("l1: {size: 96 KiB}\ncores: [{l0: {size: 96 KiB}}]\n"),
            "my.yaml: key 'cores.0.l0.size': found '96 KiB'; allowed is less than l1.size, 96 KiB");
  std::string many = "cores: [{}";
  for (int k = 0; k < 64; ++k) many += ", {}";
  EXPECT_EQ(at(many + "]\n"), "my.yaml:1: key 'cores': found '65'; allowed is 1 to 64");
}

TEST_F(Hardware, EveryKeyCanBeSetByItsPath) {
  for (const auto& key : hardware_schema().keys()) {
    MachineConfig machine;
    const std::string value = format_value(key, key.get(machine));
    EXPECT_NO_THROW(apply_override(machine, key.path + "=" + value)) << key.path;
    EXPECT_TRUE(same(machine, MachineConfig{})) << key.path;
    EXPECT_FALSE(key.meaning.empty()) << key.path;
    if (key.type != Type::kInteger && key.type != Type::kReal) continue;
    // Another value reaches this key's field and no other's.
    const auto limit = [&](double bound) {
      return key.type == Type::kReal ? format_real(key.unit, bound)
                                     : format_integer(key.unit, static_cast<std::uint64_t>(bound));
    };
    apply_override(machine, key.path + "=" + limit(key.maximum));
    EXPECT_EQ(format_value(key, key.get(machine)), limit(key.maximum)) << key.path;
    for (const auto& other : hardware_schema().keys()) {
      if (other.path == key.path) continue;
      EXPECT_EQ(format_value(other, other.get(machine)), hardware_schema().default_text(other)) << key.path;
    }
    apply_override(machine, key.path + "=" + limit(key.minimum));
    EXPECT_EQ(format_value(key, key.get(machine)), limit(key.minimum)) << key.path;
  }
}

TEST_F(Hardware, EveryKeyRefusesWhatIsBeyondItsLimits) {
  for (const auto& key : hardware_schema().keys()) {
    if (key.type != Type::kInteger && key.type != Type::kReal) continue;
    const bool real = key.type == Type::kReal;
    std::vector<std::string> outside = {real ? format_real(key.unit, key.maximum * 2)
                                             : format_integer(key.unit, static_cast<std::uint64_t>(key.maximum) * 2)};
    if (key.minimum > 0) outside.push_back(real ? format_real(key.unit, key.minimum / 2) : format_integer(key.unit, 0));
    for (const std::string& value : outside) {
      MachineConfig machine;
      EXPECT_EQ(message_of([&] { apply_override(machine, key.path + "=" + value); }),
                "--set " + key.path + "=" + value + ": key '" + key.path + "': found '" + value + "'; allowed is " +
                    allowed_range(key));
      EXPECT_TRUE(same(machine, MachineConfig{}));
    }
  }
}

TEST_F(Hardware, RefusesUnknownKeysNamingTheNearest) {
  EXPECT_EQ(refusal("clock: 1 GHz\nl1:\n  siz: 5 MiB\n"),
            "my.yaml:3: key 'l1.siz' is unknown; did you mean 'l1.size'?");
  EXPECT_EQ(refusal("Clock: 1 GHz\n"), "my.yaml:1: key 'Clock' is unknown; did you mean 'clock'?");
  EXPECT_EQ(refusal("\n# x\ndmaa:\n  channels: 2\n"), "my.yaml:3: key 'dmaa' is unknown; did you mean 'dma'?");
  EXPECT_EQ(refusal("bandwidth: 30 GB/s\n"), "my.yaml:1: key 'bandwidth' is unknown; did you mean 'dram.bandwidth'?");
  EXPECT_EQ(refusal("l0: {ports: 2}\n"), "my.yaml:1: key 'l0.ports' is unknown; did you mean 'l1.ports'?");
  EXPECT_EQ(refusal("l0: {associativity: 2}\n"),
            "my.yaml:1: key 'l0.associativity' is unknown; allowed: l0.size, l0.kind");
  EXPECT_EQ(refusal("frobnicate: 2\n"),
            "my.yaml:1: key 'frobnicate' is unknown; allowed: name, voltage, base, provenance, clock, ... "
            "(all: attnvp describe keys)");
}

TEST_F(Hardware, RefusesDuplicates) {
  EXPECT_EQ(refusal("cores: 2\nclock: 1 GHz\ncores: 2\n"), "my.yaml:3: key 'cores' is given twice, first in line 1");
  EXPECT_EQ(refusal("l1:\n  size: 2 MiB\nl1:\n  size: 3 MiB\n"),
            "my.yaml:4: key 'l1.size' is given twice, first in line 2");
  EXPECT_EQ(refusal("l1:\n  size: 2 MiB\nl1.size: 3 MiB\n"),
            "my.yaml:3: key 'l1.size' is given twice, first in line 2");
}

TEST_F(Hardware, RefusesTheWrongShape) {
  EXPECT_EQ(refusal("l1: 5 MiB\n"),
            "my.yaml:1: key 'l1' is a section, found '5 MiB'; allowed are its keys l1.size, l1.banks, "
            "l1.bank_bandwidth, "
            "l1.ports, l1.port_bandwidth, l1.kind, l1.interleave, l1.swizzle, l1.library");
  EXPECT_EQ(refusal("l0:\n"), "my.yaml:1: key 'l0' is a section, found nothing; allowed are its keys l0.size, l0.kind");
  EXPECT_EQ(refusal("clock: {hz: 1}\n"), "my.yaml:1: key 'clock' must have one value, found a map");
  EXPECT_EQ(refusal("cores: [1, 2]\n"), "my.yaml:1: key 'cores.0' must be a map of keys, found '1'");
  EXPECT_EQ(refusal("cores:\n"), "my.yaml:1: key 'cores' must have one value, found nothing");
  EXPECT_EQ(refusal("- cores\n"), "my.yaml:1: the file must be a map of keys, found a list");
  EXPECT_EQ(refusal("edge\n"), "my.yaml:1: the file must be a map of keys, found 'edge'");
  EXPECT_EQ(refusal("? [a]\n: 1\n"), "my.yaml:1: a key must have one value, found a list");
  EXPECT_EQ(refusal("l1: &a\n  size: *a\n").substr(0, 10), "my.yaml:2:");
}

TEST_F(Hardware, RefusesBadValuesWithLineAndKey) {
  EXPECT_EQ(refusal("cores: 2\nl1:\n  size: 5\n"),
            "my.yaml:3: key 'l1.size': found '5', which has no unit; allowed units: B, KiB, MiB, GiB, TiB, "
            "KB, MB, GB, TB");
  EXPECT_EQ(refusal("l1: {size: 8 GiB}\n"), "my.yaml:1: key 'l1.size': found '8 GiB'; allowed is 1 KiB to 4 GiB");
  EXPECT_EQ(refusal("dma: {burst: 3 KiB}\n"),
            "my.yaml:1: key 'dma.burst': found '3 KiB'; allowed is a power of two from 16 B to 1 MiB");
  EXPECT_EQ(refusal("dma: {arbitration: fifo}\n"),
            "my.yaml:1: key 'dma.arbitration': found 'fifo'; allowed: age, priority, round-robin");
  EXPECT_EQ(refusal("dram: {policy: perfect}\n"),
            "my.yaml:1: key 'dram.policy': found 'perfect'; allowed: banked, cached, fixed, plugin");
  EXPECT_EQ(refusal("cores: two\n"),
            "my.yaml:1: key 'cores': found 'two', which is not a number; allowed is a plain whole number");
  EXPECT_EQ(refusal("clock: .nan\n"),
            "my.yaml:1: key 'clock': found '.nan', which is not a number; allowed is a number "
            "with one of the units Hz, kHz, MHz, GHz");
  EXPECT_EQ(refusal("name: \"\"\n"),
            "my.yaml:1: key 'name': found ''; allowed is a text of 1 to 200 printable characters");
  EXPECT_EQ(refusal("name: \"a\\tb\"\n"),
            "my.yaml:1: key 'name': found 'a\\tb'; allowed is a text of 1 to 200 printable characters");
}

TEST_F(Hardware, RefusesFilesThatAreNotOneYamlMap) {
  EXPECT_EQ(refusal("cores: 2\nl1: {size: 5 MiB\n").substr(0, 25), "my.yaml:3: not valid YAML");
  EXPECT_EQ(refusal("cores: 2\n\tclock: 1 GHz\n"), "my.yaml:2: is indented by a tab; allowed are spaces");
  EXPECT_EQ(refusal("cores: 2\n# \xff\n"), "my.yaml:2: holds the byte \\xff; allowed is text in UTF-8");
  EXPECT_EQ(refusal("cores: 2\nname: a\x1b[1m\n"),
            "my.yaml:2: holds the control character \\x1b; allowed is plain text");
  const std::string belongs = ", or text that belongs to no key; allowed is one document";
  EXPECT_EQ(refusal(", cores: 2\n"), "my.yaml:1: holds a second YAML document" + belongs);
  EXPECT_EQ(refusal("[cores: 2]\nclock: 1 GHz\n"), "my.yaml:2: holds a second YAML document" + belongs);
  EXPECT_EQ(refusal(""), "my.yaml: holds no keys");
  EXPECT_EQ(refusal("# nothing\n"), "my.yaml: holds no keys");
  EXPECT_EQ(refusal("cores: 2\n---\ncores: 3\n"), "my.yaml:2: holds a second YAML document" + belongs);
  EXPECT_EQ(refusal(std::string("cores: 2\0\n", 10)), "my.yaml: is not a text file");
  EXPECT_EQ(refusal("#" + std::string(2 << 20, 'x')), "my.yaml: is of 2097153 bytes; allowed are 1048576");
  EXPECT_EQ(refusal("name: " + std::string(100000, '[')),
            "my.yaml:1: has more than 100 lists and maps in each other; allowed are so many");
}

TEST_F(Hardware, RefusesBadOverrides) {
  const auto message = [](const std::string& assignment) {
    return message_of([&] { load_hardware("edge", {assignment}); });
  };
  EXPECT_EQ(message("l1.siz=2 MiB"), "--set l1.siz=2 MiB: key 'l1.siz' is unknown; did you mean 'l1.size'?");
  EXPECT_EQ(message("l1.size"), "--set l1.size: has no '='; allowed is key=value, e.g. 'l1.size=2 MiB'");
  EXPECT_EQ(message("=2"), "--set =2: has no key before '='; allowed is key=value, e.g. 'l1.size=2 MiB'");
  EXPECT_EQ(message("l1.size=2"),
            "--set l1.size=2: key 'l1.size': found '2', which has no unit; allowed units: B, KiB, MiB, GiB, "
            "TiB, KB, "
            "MB, GB, TB");
  EXPECT_EQ(message("l0=2"), "--set l0=2: key 'l0' is a section; allowed: l0.size, l0.kind");
  EXPECT_EQ(message("base=edge"), "--set base=edge: key 'base' is allowed in a file only; choose the machine by --hw");
  EXPECT_EQ(message("name=").substr(0, 41), "--set name=: key 'name': found ''; allowe");
}

TEST_F(Hardware, ChecksKeysAgainstEachOther) {
  EXPECT_EQ(refusal("l0: {size: 1 MiB}\nl1: {size: 1 MiB}\n"),
            "my.yaml: key 'l0.size': found '1 MiB'; allowed is less than l1.size, 1 MiB");
  EXPECT_EQ(refusal("clusters: 1024\n", {"l1.size=1 GiB"}),
            "my.yaml with --set: key 'l1.size': found '1 GiB' in each of 1024 clusters, 1 TiB together; "
            "allowed is 256 "
            "GiB together");
  EXPECT_EQ(refusal("l0: {size: 1 KiB}\nl1: {size: 4 KiB, banks: 1024}\n"),
            "my.yaml: key 'l1.banks': found 1024 banks of 32 B/cycle, 32 KiB per cycle; allowed is at most "
            "l1.size, 4 KiB");
  EXPECT_EQ(refusal("l0: {size: 1 KiB}\nl1: {size: 4 KiB}\ndma: {burst: 8 KiB}\n"),
            "my.yaml: key 'dma.burst': found '8 KiB'; allowed is at most l1.size, 4 KiB");
  EXPECT_EQ(refusal("vec: {lanes: 8, rows: 16}\n"),
            "my.yaml: key 'vec.rows': found 16; allowed is at most vec.lanes, 8");
  EXPECT_EQ(refusal("mac: {weight_arrays: 2, resident_tiles: 4}\n"),
            "my.yaml: key 'mac.resident_tiles': found 4 tiles in arrays that hold weights; allowed is 0 with "
            "mac.weight_arrays=2");
}

TEST_F(Hardware, ClustersMayBeAListWithOverrides) {
  const MachineConfig machine = load(
      "base: edge\n"
      "clusters:\n  - l1: {size: 1 MiB}\n  - cores: [{mac: {rows: 32}}, {}]\n    dma: {channels: 8}\n  - {}\n"
      "cores: [{}, {vec: {lanes: 64}}]\n",
      {"clusters.2.cores.0.l0.size=32 KiB"});
  ASSERT_EQ(machine.clusters, 3U);
  EXPECT_EQ(machine.l1.size_bytes, 5U << 20);
  EXPECT_EQ(machine.with_cluster(0).l1.size_bytes, 1U << 20);
  EXPECT_EQ(machine.with_cluster(1).core(0).mac.rows, 32U);
  EXPECT_EQ(machine.with_cluster(1).dma.channels, 8U);
  EXPECT_EQ(machine.with_cluster(2).core(0).l0.size_bytes, 32U << 10);
  for (std::uint32_t c = 0; c < 3; ++c) EXPECT_EQ(machine.with_cluster(c).core(1).vec.lanes, 64U);
  EXPECT_FALSE(machine.has_equal_clusters());
  const std::string yaml = to_yaml(machine);
  EXPECT_NE(yaml.find("clusters:\n"
                      "  - l1:\n      size: 1 MiB\n"
                      "  - dma:\n      channels: 8\n    cores:\n      - mac:\n          rows: 32\n      - {}\n"
                      "  - cores:\n      - l0:\n          size: 32 KiB\n      - {}\n"
                      "cluster_groups: 1\n"),
            std::string::npos)
      << yaml;
  EXPECT_EQ(to_yaml(load_hardware(folder_.write("again.yaml", yaml))), yaml);
  // New numbers end overrides.
  EXPECT_TRUE(load("base: large-small\n", {"clusters=2"}).has_equal_clusters());
  const MachineConfig more =
      load("base: large-small\nclusters: [{cores: [{mac: {rows: 8}}, {}]}, {l1: {size: 1 MiB}}]\n", {"cores=3"});
  EXPECT_EQ(more.with_cluster(0).core(0).mac.rows, 16U);
  EXPECT_EQ(more.with_cluster(1).l1.size_bytes, 1U << 20);
}

TEST_F(Hardware, RefusesBadListsOfClusters) {
  EXPECT_EQ(refusal("clusters: [{l1: {siz: 1 MiB}}, {}]\n"),
            "my.yaml:1: key 'clusters.0.l1.siz' is unknown; did you mean 'clusters.0.l1.size'?");
  EXPECT_EQ(refusal("clusters: [{l1: {size: 5}}, {}]\n"),
            "my.yaml:1: key 'clusters.0.l1.size': found '5', which has no unit; allowed units: B, KiB, MiB, GiB, TiB, "
            "KB, MB, GB, TB");
  EXPECT_EQ(refusal("clusters: [1, 2]\n"), "my.yaml:1: key 'clusters.0' must be a map of keys, found '1'");
  EXPECT_EQ(refusal("clusters: [{cores: [{}, {}, {}]}, {}]\n"),
            "my.yaml:1: key 'clusters.0.cores': found 3 cores; allowed are as many as in every cluster, 2");
  EXPECT_EQ(refusal("clusters: [{cores: [{mac: {rows: 0}}, {}]}, {}]\n"),
            "my.yaml:1: key 'clusters.0.cores.0.mac.rows': found '0'; allowed is 1 to 1024");
  EXPECT_EQ(refusal("clusters: [{dram: {size: 1 GiB}}, {}]\n").substr(0, 45),
            "my.yaml:1: key 'clusters.0.dram' is unknown; ");
  EXPECT_EQ(refusal("clusters: [{l1: {size: 32 KiB}}, {}]\n"),
            "my.yaml: key 'clusters.0.l0.size': found '64 KiB'; allowed is less than l1.size, 32 KiB");
  EXPECT_EQ(refusal("clusters: [{dma: {burst: 8 KiB}, l0: {size: 1 KiB}, l1: {size: 4 KiB, banks: 1}}, {}]\n"),
            "my.yaml: key 'clusters.0.dma.burst': found '8 KiB'; allowed is at most l1.size, 4 KiB");
  const auto message = [](const std::string& assignment) {
    return message_of([&] { load_hardware("large-small", {assignment}); });
  };
  EXPECT_EQ(message("clusters.2.l1.size=1 MiB"),
            "--set clusters.2.l1.size=1 MiB: key 'clusters.2.l1.size': the machine has no cluster 2; allowed are "
            "clusters 0 to 1");
  EXPECT_EQ(
      message("clusters.1.cores.2.mac.rows=8"),
      "--set clusters.1.cores.2.mac.rows=8: key 'clusters.1.cores.2.mac.rows': the machine has no core 2; allowed "
      "are cores 0 to 1");
  EXPECT_EQ(message("clusters.1.l1.siz=1 MiB"),
            "--set clusters.1.l1.siz=1 MiB: key 'clusters.1.l1.siz' is unknown; did you mean 'clusters.1.l1.size'?");
}

TEST_F(Hardware, ChecksMachinesMadeByCode) {
  MachineConfig machine;
  EXPECT_NO_THROW(check_machine(machine, {"sweep"}));
  machine.clock_hz = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(message_of([&] { check_machine(machine, {"sweep"}); }),
            "sweep: key 'clock': found 'nan'; allowed is 1 MHz to 100 GHz");
  machine = {};
  machine.dma.arbitration = static_cast<DmaArbitration>(7);
  EXPECT_EQ(message_of([&] { check_machine(machine, {"sweep"}); }),
            "sweep: key 'dma.arbitration': found '7'; allowed: age, priority, round-robin");
}

TEST_F(Hardware, ABaseIsANameOrAPathBesideTheFile) {
  folder_.write("sub/parent.yaml", "base: edge-small\nname: parent\nclock: 2 GHz\nenergy: ./mine.yaml\n");
  const MachineConfig machine = load("cores: 3\nbase: sub/parent.yaml\n");
  EXPECT_EQ(machine.name, "my");
  EXPECT_EQ(machine.cores, 3u);
  EXPECT_EQ(machine.clock_hz, 2e9);
  EXPECT_EQ(machine.vec.lanes, 128u);
  EXPECT_EQ(machine.energy, folder_.path("sub/mine.yaml"));
}

TEST_F(Hardware, RefusesBadBases) {
  folder_.write("b.yaml", "base: c.yaml\n");
  folder_.write("c.yaml", "clusters: 1\nbase: ./my.yaml\n");
  EXPECT_EQ(refusal("base: b.yaml\n"),
            "c.yaml:2: key 'base': the bases form a cycle: my.yaml -> b.yaml -> c.yaml -> my.yaml");
  EXPECT_EQ(refusal("base: ./my.yaml\n"), "my.yaml:1: key 'base': the bases form a cycle: my.yaml -> my.yaml");
  EXPECT_EQ(refusal("base: ./none.yaml\n"), "my.yaml:1: key 'base': none.yaml: no such file");
  EXPECT_EQ(refusal("base: edge\nbase: edge\n"), "my.yaml:2: key 'base' is given twice, first in line 1");
  EXPECT_NE(refusal("base: egde\n").find("did you mean 'edge' (all: attnvp list hardware)?"), std::string::npos);
}

TEST_F(Hardware, RefusesFilesThatCannotBeRead) {
  EXPECT_EQ(message_of([&] { load_hardware(folder_.path("none.yaml")); }), "none.yaml: no such file");
  folder_.write("sub/x.yaml", "");
  EXPECT_EQ(message_of([] { load_hardware("./sub"); }), "sub: cannot be read: not a regular file");
}

}  // namespace
}  // namespace attnvp::config
