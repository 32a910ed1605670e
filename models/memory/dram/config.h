// Parameters that all kinds of DRAM share.
#pragma once

#include <cstdint>
#include <string>

#include "models/keys/keys.h"

namespace attnvp {

struct DramConfig {
  std::string policy = "fixed";
  std::uint64_t size_bytes = 6ULL << 30;
  double bytes_per_second = 30e9;
  double latency_seconds = 20e-9;  // request to first data, row open

  static void describe(config::Keys<DramConfig>& key) {
    using namespace config;
    using C = DramConfig;
    key(config::kind("policy", "dram", "timing of the DRAM"), &C::policy);
    key(number("size", Unit::kBytes, kMiB, 16 * kTiB, "main memory"), &C::size_bytes);
    key(number("bandwidth", Unit::kBandwidth, 1e6, 100e12, "peak, all clusters together"), &C::bytes_per_second);
    key(number("latency", Unit::kTime, 0, 1e-3, "request to first data"), &C::latency_seconds);
  }
};

}  // namespace attnvp
