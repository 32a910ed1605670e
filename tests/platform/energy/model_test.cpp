#include <gtest/gtest.h>

#include <cmath>

#include "models/memory/config.h"
#include "platform/machine/energy.h"
#include "platform/machine/energy/machine_model.h"
#include "platform/machine/energy/technology.h"
#include "platform/machine/hardware.h"
#include "tests/platform/test_files.h"

namespace attnvp::energy {
namespace {

using attnvp::testing::message_of;
using attnvp::testing::TemporaryFolder;

config::EnergyTable table_of(const MachineConfig& machine, const char* name = "cmos") {
  return resolved(config::load_energy(name), machine);
}

MachineConfig at(const std::string& tech) {
  MachineConfig machine;
  machine.technology.tech = tech;
  return machine;
}

TEST(Scaling, IsThePublishedOne) {
  // Table of areas: 45 nm to 16 nm 0.19 to 0.20; energy of a 45 nm device at 1.0 V by its polynomial.
  EXPECT_NEAR(area_scale(45, 16), 0.13 / 0.66, 1e-12);
  EXPECT_NEAR(energy_scale(45, 1.0, 45, 0.9), (1.018 * 0.81 - 0.3107 * 0.9 + 0.1539) / (1.018 - 0.3107 + 0.1539),
              1e-12);
  EXPECT_DOUBLE_EQ(energy_scale(22, 22), 1);
  EXPECT_LT(energy_scale(45, 28), energy_scale(45, 32));
  EXPECT_GT(energy_scale(45, 28), energy_scale(45, 20));
  EXPECT_NEAR(energy_scale(45, 32) * energy_scale(32, 7), energy_scale(45, 7), 1e-12);
}

TEST(Model, HasThePublishedFiguresAtTheirNodes) {
  const Technology& cmos = Technology::cmos();
  EXPECT_NEAR(cmos.pj("fp16_multiply", 45, nominal_volts(45)).value, 1.10, 1e-12);
  EXPECT_NEAR(cmos.pj("fp16_multiply", 7, nominal_volts(7)).value, 0.34, 1e-12);
  const double between = cmos.pj("fp16_multiply", 16, nominal_volts(16)).value;
  EXPECT_GT(between, 0.34);
  EXPECT_LT(between, 1.10);
  EXPECT_LT(cmos.pj("fp16_multiply", 16, 0.6).value, between);  // a lower voltage
  for (const ValueSource& p : cmos.provenance()) {
    EXPECT_LE(p.figure.low, 1) << p.name;
    EXPECT_GE(p.figure.high, 1) << p.name;
    EXPECT_FALSE(p.source.empty()) << p.name;
  }
}

TEST(Model, AMultiplyAccumulateCostsByItsTypes) {
  const config::EnergyTable table = table_of(at("7nm"));
  const Technology& cmos = Technology::cmos();
  const auto pj = [&](const char* name) { return cmos.pj(name, 7, nominal_volts(7)).value; };
  EXPECT_NEAR(pj("int8_multiply"), 0.07, 1e-12);
  EXPECT_NEAR(pj("bf16_multiply"), 0.21, 1e-12);
  const auto of = [&](const char* action) { return table.pj("attnvp.mac", action, 0); };
  EXPECT_NEAR(of("compute_int8"), 0.07 + 0.03 + 16 * pj("register_write"), 1e-9);
  EXPECT_NEAR(of("compute_bf16"), 0.21 + 0.38 + 32 * pj("register_write"), 1e-9);
  EXPECT_LT(of("compute_int8"), of("compute_fp8"));
  EXPECT_LT(of("compute_fp8"), of("compute_bf16"));
  EXPECT_LT(of("compute_bf16"), of("compute"));
}

TEST(Model, AWordOfALargeL1CostsLittleMoreThanOneOfASmallOne) {
  MachineConfig small = at("22nm"), large = at("22nm");
  small.l1.size_bytes = 1 << 20;
  large.l1.size_bytes = 16 << 20;
  const double one = table_of(small).pj("attnvp.l1", "read", 0), sixteen = table_of(large).pj("attnvp.l1", "read", 0);
  EXPECT_GT(sixteen, 2 * one);
  EXPECT_LT(sixteen, 6 * one);  // about the square root
  // CACTI's 5 MiB in 16 banks of 256 bits: 0.1277 nJ, by words of 16 bits; the rest is wire.
  MachineConfig edge = at("22nm");
  EXPECT_NEAR(table_of(edge).pj("attnvp.l1", "read", 0), 127.7 / 16, 0.35 * 127.7 / 16);
}

TEST(Model, ATableMayPinItsTechnology) {
  MachineConfig seven = at("7nm");
  EXPECT_LT(table_of(seven).pj("attnvp.mac", "compute", 0), table_of(at("45nm")).pj("attnvp.mac", "compute", 0));
  EXPECT_EQ(table_of(seven, "edge-16nm").pj("attnvp.mac", "compute", 0),
            table_of(at("45nm"), "edge-16nm").pj("attnvp.mac", "compute", 0));
}

TEST(Model, AreaFollowsTheMachine) {
  const auto area = [](const MachineConfig& m) { return MachineModel(m, Technology::cmos()).area_mm2(); };
  const MachineConfig plain = at("16nm");
  MachineConfig more = plain, bigger = plain, coarse = at("45nm");
  more.cores = 4;
  bigger.l1.size_bytes *= 2;
  EXPECT_GT(area(more), area(plain));
  EXPECT_GT(area(bigger), 1.3 * area(plain));
  EXPECT_GT(area(coarse), 3 * area(plain));
  double parts = 0;
  const MachineModel model(plain, Technology::cmos());
  for (const ModelPart& part : model.parts()) parts += part.area_mm2 * static_cast<double>(part.count);
  EXPECT_NEAR(parts + model.spare_mm2(), model.area_mm2(), 1e-9);
  // Parts cover 60% to 86% of the floorplan (configs/energy/cmos.yaml: 0.75, factors 0.8 and 1.15).
  const Figure range = model.area_range();
  EXPECT_NEAR(range.value * range.low, parts / (0.75 * 1.15), 1e-9);
  EXPECT_NEAR(range.value * range.high, parts / (0.75 * 0.8), 1e-9);
}

TEST(Model, AreaOfHeterogeneousCoresIsTheirSum) {
  MachineConfig small = at("16nm"), large = at("16nm"), both = at("16nm");
  small.cores = large.cores = 1;
  large.mac.rows = large.mac.columns = 32;
  large.vec.lanes = 1024;
  large.l0.size_bytes *= 2;
  both.cores = 3;
  both.core_overrides = {{{"mac.rows", std::uint64_t{32}},
                          {"mac.columns", std::uint64_t{32}},
                          {"vec.lanes", std::uint64_t{1024}},
                          {"l0.size", std::uint64_t{large.l0.size_bytes}}}};
  const auto of_cores = [](const MachineConfig& m) {
    double mm2 = 0;
    const MachineModel model(m, Technology::cmos());
    for (const ModelPart& part : model.parts())
      mm2 += part.in_core ? part.area_mm2 * static_cast<double>(part.count) : 0;
    return mm2;
  };
  EXPECT_GT(of_cores(large), 2 * of_cores(small));
  EXPECT_NEAR(of_cores(both), of_cores(large) + 2 * of_cores(small), 1e-12);
  double parts = 0;
  const MachineModel model(both, Technology::cmos());
  for (const ModelPart& part : model.parts()) parts += part.area_mm2 * static_cast<double>(part.count);
  EXPECT_NEAR(parts + model.spare_mm2(), model.area_mm2(), 1e-9);
}

TEST(Model, AnL2TakesAreaAndEnergyWhereThereIsOne) {
  MachineConfig machine = at("16nm");
  const double without = MachineModel(machine, Technology::cmos()).area_mm2();
  const double to_l1 = table_of(machine).pj("attnvp.l1", "read", 0);
  EXPECT_FALSE(table_of(machine).has("attnvp.l2", "read"));
  machine.dram.policy = "cached";
  machine.own<CacheConfig>().size_bytes = 32ULL << 20;
  const double of_32 = MachineModel(machine, Technology::cmos()).area_mm2();
  machine.own<CacheConfig>().size_bytes = 64ULL << 20;
  const double of_64 = MachineModel(machine, Technology::cmos()).area_mm2();
  EXPECT_NEAR((of_64 - without) / (of_32 - without), 2, 0.2);
  const config::EnergyTable table = table_of(machine);
  EXPECT_GT(table.pj("attnvp.l2", "read", 0), 0);
  EXPECT_LT(table.pj("attnvp.l2", "read", 0), table.pj("attnvp.dram", "read", 0));
  EXPECT_DOUBLE_EQ(table.pj("attnvp.l1", "read", 0), to_l1) << "an L2 is not between a cluster and its L1";
}

TEST(Model, AScratchpadIsTheSameSramAsACache) {
  MachineConfig cached = at("16nm"), scratchpad = at("16nm");
  cached.dram.policy = "cached";
  cached.own<CacheConfig>().size_bytes = 32ULL << 20;
  scratchpad.l2.kind = "scratchpad";
  scratchpad.l2.size_bytes = 32ULL << 20;
  EXPECT_DOUBLE_EQ(MachineModel(scratchpad, Technology::cmos()).area_mm2(),
                   MachineModel(cached, Technology::cmos()).area_mm2());
  for (const char* action : {"read", "write"}) {
    EXPECT_DOUBLE_EQ(table_of(scratchpad).pj("attnvp.l2", action, 0), table_of(cached).pj("attnvp.l2", action, 0));
  }
  EXPECT_DOUBLE_EQ(table_of(scratchpad).pj("attnvp.leakage", "l2", 0), table_of(cached).pj("attnvp.leakage", "l2", 0));
}

TEST(Model, TypesOfDramDiffer) {
  MachineConfig hbm = at("16nm"), ddr = at("16nm");
  hbm.technology.dram_type = "hbm2";
  ddr.technology.dram_type = "ddr4";
  EXPECT_NEAR(table_of(hbm).pj("attnvp.dram", "read", 0), 3.9 * 16, 1e-9);
  EXPECT_GT(table_of(ddr).pj("attnvp.dram", "read", 0), table_of(hbm).pj("attnvp.dram", "read", 0));
}

std::string refusal(const std::string& lines) {
  TemporaryFolder folder;
  const std::string path = folder.write("mine.yaml", "MODEL:\n  version: 1\n" + lines);
  return message_of([&] { Technology technology(path); });
}

TEST(Model, MistakesAreSaidWithTheirLine) {
  EXPECT_NE(
      refusal("  base: cmos\n  figures:\n    - {name: wire, pj: 0.1, nm: 16, provenance: guessed, source: me}\n")
          .find("mine.yaml:5: wire: found provenance 'guessed'; allowed: published, derived, calibrated, assumed"),
      std::string::npos);
  EXPECT_NE(refusal("  base: cmos\n  figures:\n    - {name: wire, pj: 0.1, nm: 3, provenance: assumed, source: me}\n")
                .find("wire: found a node of 3 nm; allowed is 4 to 65"),
            std::string::npos);
  EXPECT_NE(
      refusal("  base: cmos\n  figures:\n    - {name: wire, pj: 0.1, nm: 16, low: 2, provenance: assumed, source: "
              "me}\n")
          .find("found a range of 2 to 1"),
      std::string::npos);
  EXPECT_NE(refusal("  base: cmos\n  keys: {tech: 3nm}\n").find("'tech': found '3nm'"), std::string::npos)
      << refusal("  base: cmos\n  keys: {tech: 3nm}\n");
  EXPECT_NE(refusal("  figures: []\n").find("is missing"), std::string::npos);
}

TEST(Model, AFigureOfOnesOwnTakesThePlaceOfThePublishedOne) {
  TemporaryFolder folder;
  const std::string path = folder.write("mine.yaml",
                                        "MODEL:\n  version: 1\n  base: cmos\n  figures:\n    - {name: fp32_add, pj: 5, "
                                        "nm: 16, provenance: calibrated, source: my library}\n");
  const Technology mine(path);
  EXPECT_NEAR(mine.pj("fp32_add", 16, nominal_volts(16)).value, 5, 1e-12);
  EXPECT_EQ(mine.pj("wire", 16, 0.8).value, Technology::cmos().pj("wire", 16, 0.8).value);
}

}  // namespace
}  // namespace attnvp::energy
