// The event unit's parameters, one per cluster.
#pragma once

#include <cstdint>

#include "models/keys/keys.h"

namespace attnvp {

struct EventUnitConfig {
  std::uint32_t events = 256;  // counting semaphores

  static void describe(config::Keys<EventUnitConfig>& key) {
    using namespace config;
    key(number("count", Unit::kCount, 16, 4096, "counting semaphores in a cluster's event unit"),
        &EventUnitConfig::events);
  }
};

}  // namespace attnvp
