#include <gtest/gtest.h>

#include "models/memory/banked_dram/traffic.h"
#include "platform/machine/energy/machine_model.h"
#include "platform/machine/hardware.h"

namespace attnvp::energy {
namespace {

// One channel of the part.
MachineConfig with_part(const std::string& part) {
  MachineConfig machine = config::load_hardware("edge-16nm", {"dram.policy=banked", "dram.part=" + part});
  machine.dram.size_bytes = machine.own<BankedConfig>().channel_bytes();
  return machine;
}

struct Energies {
  double pj = 0, low = 0, high = 0;
};

// Of all that the channel did, its standby included, and of a bit.
Energies of_a_bit(const std::string& part, double read_share) {
  const MachineConfig machine = with_part(part);
  const auto& config = machine.own<BankedConfig>();
  TrafficConfig traffic;
  traffic.bytes = config.burst_bytes();
  traffic.step_bytes = traffic.bytes;
  traffic.requests = 200000;
  traffic.read_share = read_share;
  traffic.pending = 64;
  const TrafficResult r = DramTraffic(config, traffic).run();
  const config::EnergyTable table = resolved(config::load_energy("cmos"), machine);
  const double words = static_cast<double>(r.bytes) / 2;
  const double cycles = static_cast<double>(r.clocks) * config.tCK_seconds * machine.clock_hz;
  const std::pair<const char*, double> counts[] = {{"activate", static_cast<double>(r.counts.activates)},
                                                   {"refresh", static_cast<double>(r.counts.refreshes)},
                                                   {"refresh_bank", static_cast<double>(r.counts.bank_refreshes)},
                                                   {"read_burst", static_cast<double>(r.counts.read_bursts)},
                                                   {"write_burst", static_cast<double>(r.counts.write_bursts)},
                                                   {"read", words * read_share},
                                                   {"write", words * (1 - read_share)},
                                                   {"open", static_cast<double>(r.counts.open_clocks)},
                                                   {"background", cycles}};
  Energies sum;
  for (const auto& [action, count] : counts) {
    const double pj = table.pj("attnvp.dram", action, 0) * count / (words * 16);
    const config::EnergyTable::EnergyAction range = table.range("attnvp.dram", action);
    sum.pj += pj;
    sum.low += pj * range.low;
    sum.high += pj * range.high;
    EXPECT_GE(range.high, range.low);
  }
  EXPECT_GT(r.counts.activates, 0U);
  EXPECT_GT(r.counts.refreshes + r.counts.bank_refreshes, 0U);
  EXPECT_GT(r.counts.open_clocks, 0U);
  return sum;
}

TEST(DramCommands, ABitThatIsStreamedCostsWhatIsPublishedOfItsType) {
  for (const char* part : {"lpddr4-3200", "lpddr4-4266", "lpddr5-6400", "ddr4-2400", "ddr5-4800", "hbm2", "hbm2e",
                           "hbm3", "gddr6x", "gddr7"}) {
    const Figure published = Technology::cmos().dram_pj_per_bit(with_part(part).own<BankedConfig>().type);
    const Energies streamed = of_a_bit(part, 1);
    EXPECT_GE(streamed.pj, published.value * published.low) << part;
    EXPECT_LE(streamed.pj, published.value * published.high) << part;
    EXPECT_LT(streamed.low, streamed.pj) << part;
    EXPECT_GT(streamed.high, streamed.pj) << part;
    RecordProperty(part, std::to_string(streamed.pj));
  }
  EXPECT_LT(of_a_bit("lpddr4-3200", 0).pj, of_a_bit("lpddr4-3200", 1).pj) << "pins take less to be written";
}

TEST(DramCommands, ThePartDecidesWhoseEnergiesTheyAre) {
  const auto table = [](const std::string& part) { return resolved(config::load_energy("cmos"), with_part(part)); };
  // O'Connor: 909 pJ a row of 1 KiB, 2.68 pJ a bit within, 0.80 on the pins; a burst of 32 bytes.
  EXPECT_NEAR(table("hbm2").pj("attnvp.dram", "activate", 0), 909, 1e-9);
  EXPECT_NEAR(table("hbm2").pj("attnvp.dram", "read_burst", 0), 2.68 * 256, 1e-9);
  EXPECT_NEAR(table("hbm2").pj("attnvp.dram", "read", 0), 0.80 * 16, 1e-9);
  // Micron's currents: 1204 pJ a row of 2 KiB.
  EXPECT_NEAR(table("lpddr4-3200").pj("attnvp.dram", "activate", 0), 1204, 1e-9);
  MachineConfig fixed = config::load_hardware("edge-16nm");
  fixed.technology.dram_type = "hbm2";
  EXPECT_NEAR(resolved(config::load_energy("cmos"), fixed).pj("attnvp.dram", "read", 0), 3.9 * 16, 1e-9);
}

}  // namespace
}  // namespace attnvp::energy
