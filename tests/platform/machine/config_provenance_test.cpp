#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "platform/machine/catalog.h"
#include "platform/machine/document.h"
#include "platform/machine/hardware.h"
#include "platform/machine/provenance.h"
#include "platform/workload/keys.h"
#include "tests/platform/test_files.h"

namespace attnvp::config {
namespace {

using attnvp::testing::message_of;
using attnvp::testing::TemporaryFolder;
using Kind = ProvenanceKind;

class ProvenanceTest : public ::testing::Test {
 protected:
  Provenances of(const std::string& text, const std::vector<std::string>& overrides = {}) {
    return hardware_provenance(folder_.write("my.yaml", text), overrides);
  }
  std::string refusal(const std::string& text) {
    const std::string path = folder_.write("my.yaml", text);
    return message_of([&] { load_hardware(path); });
  }

  TemporaryFolder folder_;
};

// Whether a table of configs/paper has the cells: "TABLE", "TABLE/ROW" or "TABLE/ROW/COLUMN".
bool exists(const std::string& cell) {
  const std::size_t row = cell.find('/'), column = row == std::string::npos ? row : cell.find('/', row + 1);
  const std::string path = config_root() + "/paper/" + cell.substr(0, row) + ".csv";
  if (!std::filesystem::exists(path)) return false;
  const std::vector<CsvLine> lines = read_csv_table(path);
  const auto has = [](const std::vector<std::string>& in, const std::string& name) {
    return std::find(in.begin(), in.end(), name) != in.end();
  };
  std::vector<std::string> rows;
  for (const CsvLine& line : lines) rows.push_back(line.cells[0]);
  return (row == std::string::npos || has(rows, cell.substr(row + 1, column - row - 1))) &&
         (column == std::string::npos || has(lines[0].cells, cell.substr(column + 1)));
}

TEST_F(ProvenanceTest, EveryValueOfAShippedFileSaysWhereItComesFrom) {
  const auto check = [](const std::string& file, const Provenances& all, const std::vector<std::string>& paths) {
    EXPECT_FALSE(all.empty()) << file;
    for (const auto& [path, p] : all) {
      EXPECT_NE(std::find(paths.begin(), paths.end(), path), paths.end()) << file << ": " << path;
      EXPECT_NE(p.kind, Kind::kUnstated) << file << ": " << path;
      for (const std::string& cell : p.cells) EXPECT_TRUE(exists(cell)) << file << ": " << path << ": " << cell;
    }
  };
  for (const CatalogEntry& e : list(Folder::kHardware)) {
    check(e.path, hardware_provenance(e.name), paths_of(machine_settings(Document::load(e.path))));
  }
  for (const CatalogEntry& e : list(Folder::kNetworks)) {
    check(e.path, workload::network_provenance(e.name), workload::network_schema().paths());
  }
  for (const CatalogEntry& e : list(Folder::kEnergy)) EXPECT_NO_THROW(energy_provenance(e.name)) << e.path;
  for (const char* name : {"pat", "fusemax-45nm"}) {
    for (const auto& [action, p] : energy_provenance(name)) EXPECT_NE(p.kind, Kind::kUnstated) << name << action;
  }
}

TEST_F(ProvenanceTest, TheCellsThatEdgeWasFittedTo) {
  const Provenances edge = hardware_provenance("edge");
  EXPECT_EQ(calibrated_by(edge, "mas_table2_cycles/xlm/flat"), "vec.softmax_lane_cycles");
  EXPECT_EQ(calibrated_by(edge, "mas_table2_cycles/xlm/mas"), "");
  EXPECT_EQ(calibrated_by(edge, "mas_table2_cycles/bert-base/flat"), "");
  EXPECT_EQ(calibrated_by(edge, "mas_table3_energy/xlm/mas"), "energy");
  EXPECT_EQ(calibrated_by(edge, "mas_table3_energy2/xlm/mas"), "");
  // A machine that sets such a value was not fitted.
  EXPECT_EQ(calibrated_by(hardware_provenance("overwrite-v"), "mas_table2_cycles/xlm/flat"), "");
  EXPECT_EQ(calibrated_by(hardware_provenance("edge", {"vec.softmax_lane_cycles=32"}), "mas_table2_cycles/xlm/flat"),
            "");
}

TEST_F(ProvenanceTest, TheLongestPathWinsAndBasesAreInherited) {
  folder_.write(
      "parent.yaml",
      "clock: 2 GHz\nl1: {size: 2 MiB, banks: 4}\ndma.channels: 4\n"
      "provenance: {l1: assumed, l1.size: published A data sheet, clock: derived from it, events.count: assumed}\n");
  const Provenances all =
      of("base: ./parent.yaml\nl1: {ports: 3, size: 1 MiB}\nprovenance: {l1: 'assumed, smaller'}\n", {"clock=1 GHz"});
  EXPECT_EQ(all.at("l1.banks").text(), "assumed");
  EXPECT_EQ(all.at("l1.ports").text(), "assumed, smaller");
  EXPECT_EQ(all.at("l1.size").text(), "assumed, smaller");
  EXPECT_EQ(all.at("clock").text(), "set on the command line");
  EXPECT_EQ(all.at("dma.channels").text(), "not stated");
  EXPECT_EQ(all.at("events.count").text(), "assumed");  // a default
  EXPECT_EQ(all.count("mac.rows"), 0U);
  EXPECT_EQ(all.count("name"), 0U);
  EXPECT_EQ(of("name: x\ncores: 1\nprovenance: published Here\n").at("cores").text(), "published Here");
}

TEST_F(ProvenanceTest, KeysOfSingleCoresHaveTheirOwn) {
  folder_.write(
      "parent.yaml",
      "cores: [{mac: {rows: 32, columns: 8}}, {}]\nprovenance: {cores: assumed, cores.0.mac.rows: published A}\n");
  const Provenances all = of("base: ./parent.yaml\nclock: 1 GHz\n", {"cores.1.mac.rows=8"});
  EXPECT_EQ(all.at("cores.0.mac.rows").text(), "published A");
  EXPECT_EQ(all.at("cores.0.mac.columns").text(), "assumed");
  EXPECT_EQ(all.at("cores.1.mac.rows").text(), "set on the command line");
  EXPECT_EQ(of("base: ./parent.yaml\ncores: 2\n").count("cores.0.mac.rows"), 0U);
  EXPECT_NE(to_yaml(load_hardware("big-little"), hardware_provenance("big-little"))
                .find("      pipeline_cycles: 62      # derived from the skew of a 32 x 32 array, 31 + 31\n"),
            std::string::npos);
}

TEST_F(ProvenanceTest, KeysOfSingleClustersHaveTheirOwn) {
  folder_.write("parent.yaml",
                "clusters: [{l1: {size: 1 MiB}, cores: [{mac: {rows: 32}}, {}]}, {}]\n"
                "provenance: {clusters: assumed, clusters.0.cores.0.mac.rows: published A}\n");
  const Provenances all = of("base: ./parent.yaml\n", {"clusters.1.dma.channels=8"});
  EXPECT_EQ(all.at("clusters.0.l1.size").text(), "assumed");
  EXPECT_EQ(all.at("clusters.0.cores.0.mac.rows").text(), "published A");
  EXPECT_EQ(all.at("clusters.1.dma.channels").text(), "set on the command line");
  EXPECT_EQ(of("base: ./parent.yaml\nclusters: 2\n").count("clusters.0.l1.size"), 0U);
  EXPECT_EQ(of("base: ./parent.yaml\ncores: 2\n").count("clusters.0.cores.0.mac.rows"), 0U);
  // Values that all clusters share become the machine's.
  EXPECT_EQ(of("clusters: [{l1: {size: 1 MiB}}]\nprovenance: {clusters.0.l1.size: published B}\n").at("l1.size").text(),
            "published B");
}

TEST_F(ProvenanceTest, StandsBesideTheValues) {
  const std::string path = folder_.write("my.yaml", "cores: 3\nclusters: 2\nprovenance: {cores: derived from three}\n");
  const MachineConfig machine = load_hardware(path, {"clusters=4"});
  const std::string yaml = to_yaml(machine, hardware_provenance(path, {"clusters=4"}));
  EXPECT_NE(yaml.find("\ncores: 3                       # derived from three\n"), std::string::npos) << yaml;
  EXPECT_NE(yaml.find("\nclusters: 4                    # set on the command line\n"), std::string::npos) << yaml;
  EXPECT_NE(yaml.find("\n  rows: 16                     # default\n"), std::string::npos) << yaml;
  EXPECT_EQ(to_yaml(load_hardware(folder_.write("again.yaml", yaml))), to_yaml(machine));
}

TEST_F(ProvenanceTest, RefusesWhatIsNoStatement) {
  EXPECT_EQ(refusal("cores: 2\nprovenance:\n  coers: assumed\n"),
            "my.yaml:3: key 'coers' is unknown; did you mean 'cores'?");
  EXPECT_EQ(refusal("cores: 2\nprovenance:\n  cores: guessed by eye\n"),
            "my.yaml:3: provenance of 'cores': found 'guessed by eye'; allowed is a statement that begins with "
            "published, measured, derived, calibrated or assumed");
  EXPECT_EQ(refusal("cores: 2\nprovenance: {cores: published}\n"),
            "my.yaml:2: provenance of 'cores': found 'published' alone; allowed is published followed by where");
  EXPECT_EQ(refusal("cores: 2\nprovenance: {cores: assumed, cores: assumed}\n"),
            "my.yaml:2: key 'cores' is given twice, first in line 2");
  EXPECT_EQ(refusal("provenance: assumed\ncores: 2\nprovenance: assumed\n"),
            "my.yaml:3: key 'provenance' is given twice, first in line 1");
  EXPECT_EQ(refusal("cores: 2\nprovenance: [assumed]\n"),
            "my.yaml:2: key 'provenance' must be a map of keys, found a list");
  EXPECT_EQ(refusal("cores: 2\nprovenance: {cores: {kind: assumed}}\n"),
            "my.yaml:2: provenance of 'cores' must have one value, found a map");
  EXPECT_EQ(refusal("cores: 2\nprovenance:\n  cores: derived from it [a/b/c]\n"),
            "my.yaml:3: provenance of 'cores': only what is calibrated has cells in brackets, those that it was fitted "
            "to");
  EXPECT_EQ(refusal("cores: 2\nprovenance:\n  cores: calibrated to it [a//b]\n"),
            "my.yaml:3: provenance of 'cores': found the cell 'a//b'; allowed is TABLE, TABLE/ROW or TABLE/ROW/COLUMN");
  EXPECT_EQ(refusal("cores: 2\nprovenance:\n  cores: calibrated to it []\n"),
            "my.yaml:3: provenance of 'cores': found no cell between brackets; allowed is TABLE/ROW/COLUMN");
  folder_.write("net.yaml", "heads: 1\nseq: 64\nemb: 8\nprovenance: {head: assumed}\n");
  EXPECT_EQ(message_of([&] { workload::load(folder_.path("net.yaml")); }),
            "net.yaml:4: key 'head' is unknown; did you mean 'heads'?");
  folder_.write(
      "ert.yaml",
      "ERT: {version: 0.4, tables: [{name: m, actions: [{name: a, energy: 1}]}]}\nprovenance: {m.b: assumed}\n");
  EXPECT_EQ(message_of([&] { energy_provenance(folder_.path("ert.yaml")); }),
            "ert.yaml:2: key 'm.b' is unknown; did you mean 'm.a'?");
}

}  // namespace
}  // namespace attnvp::config
