// Parameters of the simulation itself.
#pragma once

#include <string>

#include "models/keys/keys.h"

namespace attnvp {

struct SimulationConfig {
  std::string run_ahead = "on";

  static void describe(config::Keys<SimulationConfig>& key) {
    using namespace config;
    key(choice("run_ahead", {"on", "off"},
               "models run ahead of the SystemC kernel's time while no SystemC process has activity; off: every event "
               "runs at its own kernel time. Results are equal for one cluster"),
        &SimulationConfig::run_ahead);
  }
};

}  // namespace attnvp
