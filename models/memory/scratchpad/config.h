// Parameters of L1, one per cluster.
#pragma once

#include <cstdint>
#include <string>

#include "models/keys/keys.h"

namespace attnvp {

struct ScratchpadConfig {
  std::uint64_t size_bytes = 5 << 20;
  std::uint32_t banks = 16;
  std::uint32_t bank_bytes_per_cycle = 32;  // banks times this: bandwidth of all ports together
  std::uint32_t ports = 5;                  // initiators are assigned to ports in turn
  std::uint32_t port_bytes_per_cycle = 64;
  std::string kind = "scratchpad";

  static void describe(config::Keys<ScratchpadConfig>& key) {
    using namespace config;
    using C = ScratchpadConfig;
    key(number("size", Unit::kBytes, kKiB, 4 * kGiB, "scratchpad of a cluster; all clusters' together <= 256 GiB"),
        &C::size_bytes);
    key(number("banks", Unit::kCount, 1, 4096, "banks of a scratchpad"), &C::banks);
    key(number("bank_bandwidth", Unit::kBytesPerCycle, 1, 65536,
               "one bank's; times l1.banks is what all ports together can move"),
        &C::bank_bytes_per_cycle);
    key(number("ports", Unit::kCount, 1, 1024, "ports of a scratchpad; initiators are spread over them in turn"),
        &C::ports);
    key(number("port_bandwidth", Unit::kBytesPerCycle, 1, 65536, "one port's"), &C::port_bytes_per_cycle);
    key(config::kind("kind", "l1", "the L1 of a cluster"), &C::kind);
  }
};

}  // namespace attnvp
