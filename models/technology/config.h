// Technology of the chip, gating and power limit. The energy and area models read it.
#pragma once

#include <cstdint>
#include <string>

#include "models/keys/keys.h"

namespace attnvp {

struct TechnologyConfig {
  std::string tech = "16nm";
  double volts = 0;  // 0: the node's nominal voltage
  std::string sram_cell = "itrs-hp";
  std::string dram_type = "lpddr4";
  std::string gating = "none";
  std::uint32_t gate_after = 100;  // idle cycles
  std::uint32_t wake_cycles = 10;
  double tdp_watts = 0;               // 0: none
  std::uint32_t power_window = 1024;  // cycles

  static void describe(config::Keys<TechnologyConfig>& key) {
    using namespace config;
    using C = TechnologyConfig;
    key(choice("tech", {"65nm", "45nm", "32nm", "28nm", "22nm", "20nm", "16nm", "14nm", "12nm", "10nm", "7nm"},
               "technology node of the models of energy and area"),
        &C::tech);
    key(number("voltage", Unit::kVoltage, 0, 1.3, "of logic and on-chip memories; 0 V: the node's nominal"), &C::volts);
    key(choice("sram_cell", {"itrs-hp", "itrs-lop", "itrs-lstp"},
               "transistors of on-chip memories (CACTI): high performance, low operating power, low standby power"),
        &C::sram_cell);
    key(choice("dram_type", {"lpddr4", "lpddr5", "ddr4", "ddr5", "hbm2", "hbm2e", "hbm3", "gddr6x", "gddr7"},
               "what energies of DRAM are of; with policy banked, the part's own type"),
        &C::dram_type);
    key(choice("gating", {"none", "clock", "power"},
               "engines that have been idle for `gate_after`: left on, without clock, or without clock and leakage"),
        &C::gating);
    key(number("gate_after", Unit::kCycles, 0, 1e9, "idle cycles after which an engine is switched off"),
        &C::gate_after);
    key(number("wake_cycles", Unit::kCycles, 0, 1e6, "for an engine to be switched on again"), &C::wake_cycles);
    key(number("tdp", Unit::kPower, 0, 1e5,
               "power that the device may draw; 0 W: no limit; reports say when it is exceeded"),
        &C::tdp_watts);
    key(number("power_window", Unit::kCycles, 1, 1e9, "waveforms and timelines show the mean power of so many cycles"),
        &C::power_window);
  }
};

}  // namespace attnvp
