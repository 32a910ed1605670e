// Energy by the model, leakage and clock, power over time.
#include "platform/report/power.h"

#include <gtest/gtest.h>

#include "platform/report/report.h"
#include "tests/platform/traced.h"
#include "tests/platform/waveform.h"
#include "tests/support/tuned.h"

namespace attnvp::runs {
namespace {

job::Result run(const std::vector<std::string>& settings, const std::string& dataflow = "mas",
                const std::string& hardware = "edge-16nm") {
  const MachineConfig machine = config::load_hardware(hardware, settings);
  runs::Runner runner(machine, config::load_energy(machine.energy), false);
  return runner.run(config::load_network("H=3,N=128,E=32"), job::parse_dataflow(dataflow), nullptr, {});
}

TEST(Power, PartsAddUpAndHaveRanges) {
  const job::Result r = run({});
  double sum = 0;
  for (const std::string& part : r.energy_parts()) sum += r.energy_pj(part);
  EXPECT_NEAR(sum / r.total_energy_pj(), 1, 1e-12);
  for (const char* part : {"dram", "l1", "l0", "mac", "vec", "leakage", "clock", "network", "dma", "control"}) {
    EXPECT_GT(r.energy_pj(part), 0) << part;
  }
  for (const job::CounterValue& c : r.counters) {
    EXPECT_LE(c.low_pj, c.energy_pj) << c.module << c.name;
    EXPECT_GE(c.high_pj, c.energy_pj) << c.module << c.name;
  }
  EXPECT_NEAR(r.total_power_w(), r.total_energy_pj() * 1e-12 / r.seconds(), 1e-12);
  EXPECT_GT(r.floorplan.total_mm2(), 0);
}

TEST(Power, APapersTableLeavesOutWhatItDoesNotKnow) {
  const job::Result r = run({}, "mas", "edge");
  EXPECT_EQ(r.energy_parts(), (std::vector<std::string>{"dram", "l1", "l0", "mac", "vec"}));
}

TEST(Power, SumsInThePesSpareL0AndNoTime) {
  const job::Result pe = run({}), l0 = run({"mac.accumulators=l0"});
  EXPECT_EQ(pe.cycles, l0.cycles);
  EXPECT_EQ(pe.sum("mac", "accumulations"), pe.sum("mac", "macs"));
  EXPECT_EQ(l0.sum("mac", "accumulations"), 0U);
  EXPECT_GT(l0.sum("l0", "read_words"), 5 * pe.sum("l0", "read_words"));
  EXPECT_GT(l0.total_energy_pj(), pe.total_energy_pj());
}

TEST(Power, LeakageIsPowerTimesTime) {
  const job::Result r = run({});
  const job::Result slow = run({"dram.bandwidth=3 GB/s"});
  ASSERT_GT(slow.cycles, r.cycles);
  EXPECT_NEAR(slow.energy_pj("leakage") / r.energy_pj("leakage"),
              static_cast<double>(slow.cycles) / static_cast<double>(r.cycles), 1e-9);
}

TEST(Power, WhatIsGatedNeitherLeaksNorIsClocked) {
  const job::Result on = run({}, "flat"), clock = run({"gating=clock", "wake_cycles=0"}, "flat"),
                    off = run({"gating=power", "wake_cycles=0"}, "flat"),
                    late = run({"gating=power", "wake_cycles=1000"}, "flat");
  EXPECT_EQ(on.cycles, off.cycles);
  EXPECT_GT(off.sum("vec", "gated_cycles"), 0U);
  EXPECT_EQ(on.sum("vec", "gated_cycles"), 0U);
  EXPECT_LT(clock.energy_pj("clock"), on.energy_pj("clock"));
  EXPECT_EQ(clock.energy_pj("leakage"), on.energy_pj("leakage"));
  EXPECT_LT(off.energy_pj("leakage"), on.energy_pj("leakage"));
  EXPECT_GT(off.energy_pj("gating"), 0);
  EXPECT_GT(late.cycles, off.cycles);
}

TEST(Power, ASentenceSaysThatADeviceDrawsTooMuch) {
  EXPECT_EQ(report::power_text(run({"tdp=0 W"})).find("may (tdp)"), std::string::npos);
  EXPECT_NE(report::power_text(run({"tdp=100 mW"})).find("times the 100 mW that it may (tdp)"), std::string::npos);
}

TEST(Power, RankingsThatTheRangeTurnsAreUndecided) {
  const job::Result mas = run({}), layerwise = run({}, "layerwise"), same = run({});
  EXPECT_EQ(report::energy_order(mas, layerwise), report::Order::kLess);
  EXPECT_EQ(report::energy_order(layerwise, mas), report::Order::kMore);
  EXPECT_EQ(report::energy_order(mas, same), report::Order::kUndecided);
  // Less DRAM for more of everything else: it depends.
  job::Result traded = mas;
  for (job::CounterValue& c : traded.counters) {
    const double factor = c.component == "attnvp.dram" && c.action != "background" ? 0.5
                          : c.component == "attnvp.mac"                            ? 1.3
                                                                                   : 1;
    c.energy_pj *= factor, c.low_pj *= factor, c.high_pj *= factor;
  }
  EXPECT_EQ(report::energy_order(mas, traded), report::Order::kUndecided);
}

TEST(Power, TheTracesIntegralIsTheReportsEnergy) {
  for (const char* hardware : {"edge", "edge-16nm"}) {
    Options o;
    o.hardware = hardware;
    const Traced t = trace(o);
    const Waveform wave = parse_vcd(t.text);
    constexpr double kPjPerWattFs = 1e-3;
    const double pj = wave.integral(wave.of("attnvp.power_w")) * kPjPerWattFs;
    EXPECT_NEAR(pj / t.result.total_energy_pj(), 1, 1e-9) << hardware;
    const double l1 = wave.integral(wave.of("attnvp.cluster0.l1.power_w")) * kPjPerWattFs;
    EXPECT_GT(l1, 0);
    EXPECT_LT(l1, pj);
    EXPECT_NE(t.timeline.find("power [W]"), std::string::npos);
  }
}

}  // namespace
}  // namespace attnvp::runs
