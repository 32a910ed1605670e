// Parameters of the event unit, one per cluster.
#pragma once

#include <cstdint>
#include <string>

#include "models/keys/keys.h"

namespace attnvp {

struct EventUnitConfig {
  std::string kind = "model";
  std::uint32_t events = 256;  // counting semaphores

  static void describe(config::Keys<EventUnitConfig>& key) {
    using namespace config;
    key(config::kind("kind", "events", "the event unit of a cluster"), &EventUnitConfig::kind);
    key(number("count", Unit::kCount, 16, 4096, "counting semaphores in a cluster's event unit"),
        &EventUnitConfig::events);
  }
};

}  // namespace attnvp
