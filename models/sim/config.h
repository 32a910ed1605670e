// Parameters of the simulation itself.
#pragma once

#include <cstdint>
#include <string>

#include "models/keys/keys.h"

namespace attnvp {

struct SimulationConfig {
  std::string run_ahead = "on";
  std::string protocol_check = "off";
  std::uint64_t max_cycles = 0;  // of firmware (models/sim/cycle_limit.h); 0: as the job needs. No key: --max-cycles

  static void describe(config::Keys<SimulationConfig>& key) {
    using namespace config;
    key(choice("run_ahead", {"on", "off"},
               "models run ahead of the SystemC kernel's time while no SystemC process has activity; off: every event "
               "runs at its own kernel time. Results are equal"),
        &SimulationConfig::run_ahead);
    key(choice("protocol_check", {"on", "off"},
               "a checker of the TLM-2.0 base protocol before every target: a breach ends the run with a sentence; no "
               "result changes"),
        &SimulationConfig::protocol_check);
  }
};

}  // namespace attnvp
