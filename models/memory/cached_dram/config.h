// Parameters of the cache in front of a DRAM with `dram.policy: cached`.
#pragma once

#include <cstdint>

#include "models/keys/keys.h"

namespace attnvp {

struct CacheConfig {
  std::uint64_t size_bytes = 40ULL << 20;
  std::uint64_t line_bytes = 4096;
  std::uint32_t sectors = 1;
  double bytes_per_second = 4e12;
  double latency_seconds = 200e-9;
  bool warm = false;
  std::uint32_t ways = 0;
  std::uint32_t slices = 1;
  std::uint32_t misses = 0;
  bool write_back = false;

  static void describe(config::Keys<CacheConfig>& key) {
    using namespace config;
    using C = CacheConfig;
    key(number("l2_size", Unit::kBytes, 4096, kTiB, "cache before the DRAM"), &C::size_bytes);
    key(power_of_two("l2_line", Unit::kBytes, 32, 65536, "of the cache; what is replaced together"), &C::line_bytes);
    key(power_of_two("l2_sectors", Unit::kCount, 1, 64,
                     "of a line, each of which comes from DRAM by itself; of 32 B or more: a line of fewer has fewer"),
        &C::sectors);
    key(number("l2_bandwidth", Unit::kBandwidth, 1e6, 1e15, "of the cache, all clusters together"),
        &C::bytes_per_second);
    key(number("l2_latency", Unit::kTime, 0, 1e-3, "request to first data where it is in the cache"),
        &C::latency_seconds);
    key(flag("l2_warm", "a job finds what it reads in the cache, as far as it has room: as when timed repeatedly"),
        &C::warm);
    key(number("l2_ways", Unit::kCount, 0, 1U << 20,
               "lines of a set, of which the one used longest ago leaves; 0: any line may be anywhere"),
        &C::ways);
    key(number("l2_slices", Unit::kCount, 1, 4096,
               "slices, among which lines take turns, each with its share of l2_bandwidth"),
        &C::slices);
    key(number("l2_misses", Unit::kCount, 0, 1U << 20, "lines on their way from DRAM at once; 0: any number"),
        &C::misses);
    key(flag("l2_write_back", "what is written goes to DRAM when its line leaves the cache, not at once"),
        &C::write_back);
  }
};

}  // namespace attnvp
