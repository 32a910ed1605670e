// Area, leakage, clock and energy of arrays by the element types that their PEs multiply.
#include <gtest/gtest.h>

#include "platform/machine/energy.h"
#include "platform/machine/energy/machine_model.h"

namespace attnvp::energy {
namespace {

constexpr double kUm2 = 1e-6;  // mm2

MachineConfig array(std::uint32_t fp16, std::uint32_t bf16, std::uint32_t fp8, std::uint32_t int8) {
  MachineConfig machine;
  machine.technology.tech = "45nm";
  machine.cores = 1;
  machine.mac.rows = machine.mac.columns = 10;
  machine.mac.fp16_rate = fp16, machine.mac.bf16_rate = bf16;
  machine.mac.fp8_rate = fp8, machine.mac.int8_rate = int8;
  return machine;
}

ModelPart mac_of(const MachineConfig& machine) {
  const MachineModel model(machine, Technology::cmos());
  for (const ModelPart& part : model.parts()) {
    if (part.module == "mac") return part;
  }
  return {};
}

// Figures of configs/energy/cmos.yaml at 45 nm: multipliers of FP16 and INT8 1640 and 282 um2, adders of FP32 and INT32
// 4184 and 137 um2, 6 um2 for a bit of a register. A PE holds two operands twice, and a sum of 32 bits.
TEST(Arrays, AreaIsThatOfTheTypes) {
  constexpr double kPes = 100;
  EXPECT_NEAR(mac_of(array(1, 1, 1, 1)).area_mm2, kPes * (1640 + 4184 + (4 * 16 + 32) * 6) * kUm2, 1e-9);
  EXPECT_NEAR(mac_of(array(0, 0, 0, 1)).area_mm2, kPes * (282 + 137 + (4 * 8 + 32) * 6) * kUm2, 1e-9);
  EXPECT_NEAR(mac_of(array(1, 0, 0, 4)).area_mm2, kPes * (1640 + 4184 + 3 * (282 + 137) + (4 * 4 * 8 + 32) * 6) * kUm2,
              1e-9);
  EXPECT_NEAR(mac_of(array(0, 0, 0, 2)).area_mm2, kPes * (2 * (282 + 137) + (4 * 16 + 32) * 6) * kUm2, 1e-9);
}

TEST(Arrays, MoreProductsTakeMoreAreaLeakageAndClock) {
  ModelPart before = mac_of(array(0, 0, 0, 1));
  for (const MachineConfig& machine : {array(0, 0, 0, 2), array(0, 0, 1, 2), array(0, 1, 1, 2), array(1, 1, 1, 2),
                                       array(1, 1, 2, 2), array(1, 1, 2, 4), array(1, 1, 2, 8)}) {
    const ModelPart part = mac_of(machine);
    EXPECT_GT(part.area_mm2, before.area_mm2);
    EXPECT_GT(part.leakage_mw.value, before.leakage_mw.value);
    EXPECT_GE(part.clock_pj.value, before.clock_pj.value);
    before = part;
  }
}

TEST(Arrays, ShortTypesAreSmallerThanLongOnes) {
  const double int8 = mac_of(array(0, 0, 0, 1)).area_mm2, fp8 = mac_of(array(0, 0, 1, 0)).area_mm2,
               bf16 = mac_of(array(0, 1, 0, 0)).area_mm2, fp16 = mac_of(array(1, 0, 0, 0)).area_mm2;
  EXPECT_LT(int8, fp8);
  EXPECT_LT(fp8, bf16);
  EXPECT_LT(bf16, fp16);
}

}  // namespace
}  // namespace attnvp::energy
