// Parameters that all kinds of interconnect share.
#pragma once

#include <string>

#include "models/keys/keys.h"

namespace attnvp {

struct InterconnectConfig {
  std::string kind = "ideal";

  static void describe(config::Keys<InterconnectConfig>& key) {
    key(config::kind("kind", "interconnect", "the network of control and DRAM"), &InterconnectConfig::kind);
  }
};

}  // namespace attnvp
