// Parameters of DRAM with the `fixed` policy alone.
#pragma once

#include "models/keys/keys.h"

namespace attnvp {

struct FixedDramConfig {
  bool duplex = false;

  static void describe(config::Keys<FixedDramConfig>& key) {
    using namespace config;
    key(flag("duplex", "with policy fixed: reads and writes have a bus each, both of dram.bandwidth"),
        &FixedDramConfig::duplex);
  }
};

}  // namespace attnvp
