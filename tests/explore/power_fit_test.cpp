#include "explore/validate/power_fit.h"

#include <gtest/gtest.h>

#include <cmath>

#include "explore/validate/data_set.h"
#include "explore/validate/decode_set.h"
#include "explore/validate/validate.h"
#include "platform/machine/hardware.h"

namespace attnvp::validate {
namespace {

KernelPower kernel(std::vector<double> rates, double watts) { return {std::move(rates), watts}; }

PowerActivity unknown() { return {"of anything", "W", 0, 1e6, "test"}; }

TEST(PowerFit, RecoversEnergiesThatTellKernelsApart) {
  const std::vector<double> true_energies = {30, 2, 0.5};
  std::vector<KernelPower> kernels;
  for (int i = 0; i < 8; ++i) {
    kernels.push_back(kernel({1, static_cast<double>(i), static_cast<double>((i * i) % 5)}, 0));
    kernels.back().watts = watts_of(true_energies, kernels.back());
  }
  const std::vector<double> fitted = fit_power({unknown(), unknown(), unknown()}, kernels);
  for (std::size_t j = 0; j < fitted.size(); ++j) EXPECT_NEAR(fitted[j], true_energies[j], 1e-5);
}

TEST(PowerFit, HasNoNegativeEnergies) {
  // Least squares without the bound gives 40 and -10.
  const std::vector<double> fitted =
      fit_power({unknown(), unknown()}, {kernel({1, 1}, 30), kernel({1, 2}, 20), kernel({1, 3}, 10)});
  EXPECT_EQ(fitted[1], 0);
  // The weighted mean of 30, 20 and 10 with relative errors: sum(1/w) / sum(1/w^2).
  EXPECT_NEAR(fitted[0], (1.0 / 30 + 1.0 / 20 + 1.0 / 10) / (1.0 / 900 + 1.0 / 400 + 1.0 / 100), 1e-6);
}

TEST(PowerFit, KeepsKnownEnergiesOfActivitiesThatDoNotOccur) {
  const PowerActivity known{"never used", "nJ", 0.7, 0.1, "test"};
  const std::vector<double> fitted = fit_power({unknown(), known}, {kernel({1, 0}, 50), kernel({1, 0}, 50)});
  EXPECT_NEAR(fitted[0], 50, 1e-6);
  EXPECT_NEAR(fitted[1], 0.7, 1e-9);
}

TEST(PowerFit, IntervalsContainTheFit) {
  const SetResult r = validate(file_of_set("gv100-power"), {});
  const MachineConfig gpu = config::load_hardware("gv100");
  std::vector<KernelPower> kernels;
  for (std::size_t i = 0; i < r.lines.size(); ++i) {
    kernels.push_back(kernel_power(DataRow(r.columns, r.lines[i], i + 1), gpu));
  }
  for (const FittedEnergy& f : fit_power_with_intervals(power_activities(gpu), kernels)) {
    EXPECT_LE(f.low, f.value);
    EXPECT_GE(f.high, f.value);
  }
}

TEST(PowerSet, KernelsLeftOutArePredictedWithin15Percent) {
  const SetResult r = validate(file_of_set("gv100-power"), {});
  ASSERT_EQ(r.points.size(), 25U);
  EXPECT_EQ(r.points.front().unit, "W");
  EXPECT_LE(r.errors.mape, 0.15);
}

TEST(DecodeStep, TakesLongerAtTheLimitOfPower) {
  // 100 J and 300 W for 0.2 s are 800 W.
  EXPECT_DOUBLE_EQ(limited_step(100, 300, 0.2, 0).joules, 160);
  EXPECT_DOUBLE_EQ(limited_step(100, 300, 0.2, 800).seconds, 0.2);
  const StepEnergy limited = limited_step(100, 300, 0.2, 700);
  EXPECT_DOUBLE_EQ(limited.seconds, 0.25);  // 100 J at 400 W
  EXPECT_DOUBLE_EQ(limited.joules, 175);
  EXPECT_DOUBLE_EQ(limited_step(100, 800, 0.2, 700).seconds, 0.2);  // no time is long enough
}

TEST(DecodeStep, EnergyIsTheIntegralOfItsCourse) {
  // Standing power of 50 W; a host that takes 2 s, during which half of it stays.
  const auto kernel = [](const char* name, std::uint32_t count, double seconds, double active_j) {
    return StepKernel{name, count, {seconds, {active_j, 0, 0}, {50 * seconds, 0, 0}}};
  };
  const std::vector<StepLayers> layers = {{2, {kernel("a", 1, 1, 100), kernel("b", 2, 3, 60)}}};
  const HostTime host{2, 0, 0.5};
  const std::vector<PowerSpan> course = course_of_step(layers, host, 1, 0);
  ASSERT_EQ(course.size(), 7U);  // a, b, b of each layer, and the host
  EXPECT_EQ(course[0].name, "a");
  EXPECT_DOUBLE_EQ(course[0].watts, 150);
  EXPECT_DOUBLE_EQ(course[1].watts, 70);
  EXPECT_EQ(course[6].name, "host");
  EXPECT_DOUBLE_EQ(course[6].watts, 25);
  // 440 J, and 50 W for 14 s and half of it for 2 s, are 1190 J in 16 s: 74.4 W.
  for (const double limit_w : {0.0, 80.0, 60.0}) {
    const StepEnergy step = ServedStep(sums_of(layers), host, 1, limit_w).predicted(&Ranged::value);
    double seconds = 0, joules = 0;
    for (const PowerSpan& span : course_of_step(layers, host, 1, limit_w)) {
      seconds += span.seconds, joules += span.seconds * span.watts;
    }
    EXPECT_NEAR(seconds, step.seconds, 1e-9);
    EXPECT_NEAR(joules, step.joules, 1e-9);
    EXPECT_NEAR(step.joules, limit_w == 60 ? 60 * step.seconds : 1190, 1e-9);
  }
}

TEST(CourseSet, StandingPowerScalesFromTheNodeOfItsFigures) {
  const Ranged standing = StepRunner("rtxa6000", {}).standing_watts();
  // The board, 48 GiB of DRAM at 0.15 W, and 84 multiprocessors whose energy of a cycle scales from 12 nm.
  const double multiprocessors = standing.value - 38.2 - 48 * 0.15;
  const double nominal = StepRunner("rtxa6000", {"tech=12nm", "voltage=0 V"}).standing_watts().value - 38.2 - 48 * 0.15;
  EXPECT_NEAR(nominal, 84 * 666e-12 * 1.8e9, 0.01 * nominal);
  EXPECT_GT(multiprocessors, nominal);  // 0.98 V at 8 nm against 0.77 V at 12 nm
}

TEST(Coverage, IsTheShareOfRangesThatHaveTheMeasurement) {
  MeasuredPoint in{"", 10, 12, "J", "", 8, 15}, below{"", 10, 12, "J", "", 11, 15}, none{"", 10, 12, "J", ""};
  EXPECT_FALSE(coverage_of({none}).has_value());
  EXPECT_DOUBLE_EQ(coverage_of({in, below, none, in}).value(), 2.0 / 3);
}

// One block of 128 queries has what there is of them; a second one is computed in full.
TEST(KernelTable, BlocksAreWholeFromTheSecondOn) {
  const auto sides = [](const char* net) {
    std::string text;
    for (const config::Setting& s : in_blocks(workload::load(net), job::parse_tiling("nq=128,nkv=2048"))) {
      text += s.path + "=" + s.text + " ";
    }
    return text;
  };
  EXPECT_EQ(sides("H=2,NQ=32,NKV=32,E=16"), "");
  EXPECT_EQ(sides("H=2,NQ=132,NKV=132,E=16"), "NQ=256 ");
  EXPECT_EQ(sides("H=2,NQ=256,NKV=2049,E=16"), "NKV=4096 ");
  EXPECT_EQ(sides("H=2,NQ=1,NKV=8192,E=16"), "");
  EXPECT_EQ(sides("gemm:200x3000x64"), "");
}

TEST(KernelTable, DecodingHasEntriesOfItsOwn) {
  KernelTable table;
  table.kinds["attention"].all = {KernelChoice{"flash3", {}, {}, false, true, {}, {}, {}}};
  const auto of = [&table](const char* net) { return table.of(workload::load(net)).all.front().dataflow; };
  EXPECT_EQ(of("H=2,NQ=1,NKV=64,E=16"), "flash3");
  table.kinds["decode"].all = {KernelChoice{"flash-decoding", {}, {}, false, true, {}, {}, {}}};
  EXPECT_EQ(of("H=2,NQ=1,NKV=64,E=16"), "flash-decoding");
  EXPECT_EQ(of("H=2,N=64,E=16"), "flash3");
  EXPECT_TRUE(table.of(workload::load("gemm:8x8x8")).all.empty());  // left to the fastest dataflow
}

}  // namespace
}  // namespace attnvp::validate
