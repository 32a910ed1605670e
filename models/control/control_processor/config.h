// Parameters that all kinds of control processor share, one per cluster.
#pragma once

#include <cstdint>
#include <string>

#include "models/keys/keys.h"

namespace attnvp {

struct ControlConfig {
  std::string cpu = "native";
  std::uint32_t access_cycles = 1;  // per bus access of up to bus_bytes
  std::uint32_t bus_bytes = 8;      // width of the control bus
  bool lists = false;               // jobs are command lists

  static void describe(config::Keys<ControlConfig>& key) {
    using namespace config;
    using C = ControlConfig;
    key(config::kind("cpu", "control", "control processor"), &C::cpu);
    key(number("access_cycles", Unit::kCycles, 1, 65536, "per access of up to control.bus_width"), &C::access_cycles);
    key(power_of_two("bus_width", Unit::kBytes, 4, 64, "width of the control bus"), &C::bus_bytes);
    key(flag("lists", "firmware is run beforehand, as a compiler, and plays its commands from a list in DRAM"),
        &C::lists);
  }
};

}  // namespace attnvp
