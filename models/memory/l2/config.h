// Parameters of the L2: on-chip memory that all clusters share, beside DRAM in the address map.
#pragma once

#include <cstdint>
#include <string>

#include "models/keys/keys.h"

namespace attnvp {

struct L2Config {
  std::string kind = "none";
  std::uint64_t size_bytes = 8ULL << 20;
  double bytes_per_second = 1e12;
  double latency_seconds = 20e-9;
  bool staging = false;

  static void describe(config::Keys<L2Config>& key) {
    using namespace config;
    using C = L2Config;
    key(config::kind("kind", "l2", "a memory that all clusters share, for DMA"), &C::kind);
    key(number("size", Unit::kBytes, kKiB, kTiB, "of the L2, all clusters together"), &C::size_bytes);
    key(number("bandwidth", Unit::kBandwidth, 1e6, 1e15, "of the L2, all clusters together"), &C::bytes_per_second);
    key(number("latency", Unit::kTime, 0, 1e-3, "of the L2, request to first data"), &C::latency_seconds);
    key(flag("staging",
             "firmware copies K and V that it streams for several row blocks into the L2 once, each cluster "
             "into its equal part of it"),
        &C::staging);
  }
};

}  // namespace attnvp
