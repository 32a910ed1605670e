// Energy by the model, leakage and clock, power over time.
#include <gtest/gtest.h>

#include <algorithm>

#include "platform/machine/energy/machine_model.h"
#include "platform/report/report.h"
#include "tests/platform/traced.h"
#include "tests/platform/waveform.h"
#include "tests/support/tuned.h"

namespace attnvp::runs {
namespace {

job::RunResult run(const std::vector<std::string>& settings, const std::string& dataflow = "mas",
                   const std::string& hardware = "edge-16nm") {
  const MachineConfig machine = config::load_hardware(hardware, settings);
  runs::Runner runner(machine, config::load_energy(machine.energy), false);
  return runner.run(workload::load("H=3,N=128,E=32"), job::parse_dataflow(dataflow), nullptr, {});
}

TEST(Power, PartsAddUpAndHaveRanges) {
  const job::RunResult r = run({});
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
  const job::RunResult r = run({}, "mas", "edge");
  EXPECT_EQ(r.energy_parts(), (std::vector<std::string>{"dram", "l1", "l0", "mac", "vec"}));
}

TEST(Power, SumsInThePesSpareL0AndNoTime) {
  const job::RunResult pe = run({}), l0 = run({"mac.accumulators=l0"});
  EXPECT_EQ(pe.cycles, l0.cycles);
  EXPECT_EQ(pe.sum("mac", "accumulations"), pe.sum("mac", "macs"));
  EXPECT_EQ(l0.sum("mac", "accumulations"), 0U);
  EXPECT_GT(l0.sum("l0", "read_words"), 5 * pe.sum("l0", "read_words"));
  EXPECT_GT(l0.total_energy_pj(), pe.total_energy_pj());
}

TEST(Power, LeakageIsPowerTimesTime) {
  const job::RunResult r = run({});
  const job::RunResult slow = run({"dram.bandwidth=3 GB/s"});
  ASSERT_GT(slow.cycles, r.cycles);
  EXPECT_NEAR(slow.energy_pj("leakage") / r.energy_pj("leakage"),
              static_cast<double>(slow.cycles) / static_cast<double>(r.cycles), 1e-9);
}

TEST(Power, WhatIsGatedNeitherLeaksNorIsClocked) {
  const job::RunResult on = run({}, "flat"), clock = run({"gating=clock", "wake_cycles=0"}, "flat"),
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
  const job::RunResult mas = run({}), layerwise = run({}, "layerwise"), same = run({});
  EXPECT_EQ(report::energy_order(mas, layerwise), report::EnergyOrder::kLess);
  EXPECT_EQ(report::energy_order(layerwise, mas), report::EnergyOrder::kMore);
  EXPECT_EQ(report::energy_order(mas, same), report::EnergyOrder::kUndecided);
  // Less DRAM for more of everything else: it depends.
  job::RunResult traded = mas;
  for (job::CounterValue& c : traded.counters) {
    const double factor = c.component == "attnvp.dram" && c.action != "background" ? 0.5
                          : c.component == "attnvp.mac"                            ? 1.3
                                                                                   : 1;
    c.energy_pj *= factor, c.low_pj *= factor, c.high_pj *= factor;
  }
  EXPECT_EQ(report::energy_order(mas, traded), report::EnergyOrder::kUndecided);
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

// Watts of every module at its full rate, by the energy table and the machine's keys.
class FullRate {
 public:
  FullRate(const MachineConfig& m, const config::EnergyTable& table) : m_(m), table_(table) {}

  double of(const std::string& module) const { return (dynamic(module) + standing(module)) * m_.clock_hz * 1e-12; }

 private:
  double pj(const std::string& component, const std::string& action, std::uint64_t bytes = 0) const {
    return table_.has(component, action) ? table_.pj(component, action, bytes) : 0;
  }
  double most(const std::string& component, std::uint64_t bytes) const {
    return std::max(pj(component, "read", bytes), pj(component, "write", bytes));
  }
  double standing(const std::string& module) const {
    return pj("attnvp.leakage", module) + pj("attnvp.clock", module) +
           (module == "dram" ? pj("attnvp.dram", "background") : 0);
  }
  double dram_bytes() const { return m_.dram.bytes_per_second / m_.clock_hz; }
  // pJ a cycle.
  double dynamic(const std::string& module) const {
    const double pes = 1.0 * m_.mac.rows * m_.mac.columns, lanes = m_.vec.lanes;
    if (module == "mac") {
      return pes * (pj("attnvp.mac", "compute") + pj("attnvp.mac", "accumulate") + pj("attnvp.mac", "max") +
                    pj("attnvp.mac", "add") + pj("attnvp.mac", "exp"));
    }
    if (module == "vec") {
      return lanes * (pj("attnvp.vec", "compute") + pj("attnvp.vec", "max") + 2 * pj("attnvp.vec", "add") +
                      2 * pj("attnvp.vec", "multiply") + pj("attnvp.vec", "exp") + pj("attnvp.vec", "divide"));
    }
    if (module == "l1") {
      const double bytes =
          std::min(1.0 * m_.l1.ports * m_.l1.port_bytes_per_cycle, 1.0 * m_.l1.banks * m_.l1.bank_bytes_per_cycle);
      return bytes / 2 * most("attnvp.l1", m_.l1.size_bytes);
    }
    // Both operands, a sum's two words in and out, and the result; on a lane, an element in and out.
    if (module == "l0")
      return (pes * 8 + 4.0 * (m_.mac.rows + m_.mac.columns) + 8 * lanes) * most("attnvp.l0", m_.l0.size_bytes);
    if (module == "dram") return dram_bytes() / 2 * most("attnvp.dram", m_.dram.size_bytes);
    if (module == "dma") {
      const double bytes = 2 * dram_bytes() + m_.l1.port_bytes_per_cycle;
      return bytes * (pj("attnvp.dma", "byte") + pj("attnvp.dma", "burst") / 16);
    }
    if (module == "bus") {
      const double bytes = dram_bytes() + m_.clusters * (1.0 * m_.control.bus_bytes + m_.l1.port_bytes_per_cycle);
      return bytes * pj("attnvp.network", "byte") + 8 * m_.clusters * pj("attnvp.network", "access");
    }
    if (module == "cpu") return pj("attnvp.control", "access") / m_.control.access_cycles;
    if (module == "events") return 16 * pj("attnvp.events", "signal");
    return 0;
  }

  const MachineConfig& m_;
  const config::EnergyTable& table_;
};

struct Watched {
  MachineConfig machine;
  job::RunResult result;
  Waveform wave;
};

Watched watch(const std::string& hardware, const std::vector<std::string>& settings, const std::string& network,
              const std::string& dataflow) {
  Watched w{config::load_hardware(hardware, settings), {}, {}};
  trace::TraceRequest request;
  request.waveform = true;
  trace::Session session(request);
  job::RunOptions options;
  options.trace = &session;
  runs::Runner runner(w.machine, config::load_energy(w.machine.energy), false);
  w.result = runner.run(workload::load(network), job::parse_dataflow(dataflow), nullptr, options);
  w.wave = parse_vcd(session.vcd());
  return w;
}

double most(const Variable& power) {
  double watts = 0;
  for (const auto& change : power.changes) watts = std::max(watts, std::stod(change.second));
  return watts;
}

// Windows of one cycle, a few cycles and the usual ones: whatever is averaged, no module is over its full rate.
TEST(Power, NoIntervalExceedsWhatAllDrawAtFullRate) {
  const std::vector<std::vector<std::string>> machines = {
      {},
      {"power_window=1"},
      {"power_window=7", "dram.bandwidth=3 GB/s", "dma.outstanding=64"},
      {"power_window=50", "vec.lanes=64", "l1.port_bandwidth=16 B/cycle", "l1.banks=2"},
      {"power_window=16", "mac.rows=4", "cores=4", "l1.ports=3"},
      {"power_window=3", "dma.burst=4 KiB", "dma.outstanding=16", "dram.latency=1 us"}};
  for (const char* hardware : {"edge", "edge-16nm"}) {
    for (const std::vector<std::string>& settings : machines) {
      for (const char* dataflow : {"layerwise", "flat", "mas", "cascade"}) {
        SCOPED_TRACE(std::string(hardware) + " " + dataflow + " " + (settings.empty() ? "" : settings.front()));
        const Watched w = watch(hardware, settings, "H=2,N=80,E=24", dataflow);
        const config::EnergyTable table = energy::resolved(config::load_energy(w.machine.energy), w.machine);
        const FullRate full(w.machine, table);
        double all = 0;
        for (const auto& [code, v] : w.wave.by_code) {
          const std::string tail = ".power_w";
          if (v.path.size() < tail.size() || v.path.substr(v.path.size() - tail.size()) != tail) continue;
          const std::string path = v.path.substr(0, v.path.size() - tail.size());
          for (const auto& change : v.changes) EXPECT_GE(std::stod(change.second), 0) << path;
          if (path == "attnvp") continue;
          const double watts = full.of(path.substr(path.rfind('.') + 1));
          all += watts;
          const std::string module = path.substr(path.rfind('.') + 1);
          if (module == "mac" || module == "vec" || module == "l1" || module == "dram") {
            EXPECT_LE(most(v), watts * (1 + 1e-4)) << path;
          }
        }
        EXPECT_LE(most(w.wave.of("attnvp.power_w")), all * (1 + 1e-4));
        const double pj = w.wave.integral(w.wave.of("attnvp.power_w")) * 1e-3;
        EXPECT_NEAR(pj / w.result.total_energy_pj(), 1, 1e-9);
        const double last = std::stod(w.wave.of("attnvp.energy_pj").changes.back().second);
        EXPECT_NEAR(last / w.result.total_energy_pj(), 1, 1e-9);
        if (HasFailure()) return;
      }
    }
  }
}

TEST(Power, TheIntegralIsTheEnergyWhateverTheMachineIs) {
  for (const std::vector<std::string>& settings : {std::vector<std::string>{"dram.policy=banked", "dram.part=hbm2"},
                                                   {"dram.policy=cached"},
                                                   {"l1.kind=banked"},
                                                   {"gating=power"},
                                                   {"gating=clock", "wake_cycles=20"},
                                                   {"control.cpu=riscv"},
                                                   {"clusters=2", "interconnect.kind=mesh"}}) {
    SCOPED_TRACE(settings.front());
    const Watched w = watch("edge-16nm", settings, "H=2,N=96,E=24", "flat");
    EXPECT_NEAR(w.wave.integral(w.wave.of("attnvp.power_w")) * 1e-3 / w.result.total_energy_pj(), 1, 1e-9);
    EXPECT_GE(std::stod(w.wave.of("attnvp.power_w").changes.front().second), 0);
  }
}

// A row block's softmax takes longer than a window: its energy is not in the one in which it ends.
TEST(Power, ACommandsEnergyIsSpreadOverItsTime) {
  const Watched w = watch("edge-16nm", {"power_window=64", "vec.lanes=64"}, "H=1,N=256,E=16", "flat");
  const Variable& power = w.wave.of("attnvp.cluster0.core0.vec.power_w");
  const Variable& operation = w.wave.of("attnvp.cluster0.core0.vec.operation");
  const std::uint64_t window = 64 * period_of(w.result);
  int windows = 0;
  double least = 1e9, greatest = 0;
  for (std::size_t i = 0; i + 1 < operation.changes.size(); ++i) {
    if (w.wave.name(operation.changes[i].second) != "softmax") continue;
    for (std::uint64_t at = (operation.changes[i].first / window + 1) * window;
         at + window <= operation.changes[i + 1].first; at += window) {
      const double watts = std::stod(power.at(at));
      least = std::min(least, watts);
      greatest = std::max(greatest, watts);
      ++windows;
    }
  }
  EXPECT_GT(windows, 10);
  EXPECT_NEAR(greatest / least, 1, 0.01) << "equal rows";
}

}  // namespace
}  // namespace attnvp::runs
