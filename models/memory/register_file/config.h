// Parameters of L0, one per core.
#pragma once

#include <cstdint>
#include <string>

#include "models/keys/keys.h"

namespace attnvp {

struct RegisterFileConfig {
  std::uint64_t size_bytes = 64 << 10;
  std::string kind = "register_file";

  static void describe(config::Keys<RegisterFileConfig>& key) {
    using namespace config;
    using C = RegisterFileConfig;
    key(number("size", Unit::kBytes, 64, 64 * kMiB, "register file of a core; smaller than l1.size"), &C::size_bytes);
    key(config::kind("kind", "l0", "the L0 of a core"), &C::kind);
  }
};

}  // namespace attnvp
