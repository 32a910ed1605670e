// Parameters of memories: those that all kinds of a slot share, and those of one kind alone. The kind `banked` of DRAM
// has its own file (banked_dram/config.h).
#pragma once

#include <cstdint>
#include <string>

#include "models/keys/key.h"

namespace attnvp {

// Parameters of L1, one per cluster.
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
    key(number("size", KeyUnit::kBytes, kKiB, 4 * kGiB, "scratchpad of a cluster; all clusters' together <= 256 GiB"),
        &C::size_bytes);
    key(number("banks", KeyUnit::kCount, 1, 4096, "banks of a scratchpad"), &C::banks);
    key(number("bank_bandwidth", KeyUnit::kBytesPerCycle, 1, 65536,
               "one bank's; times l1.banks is what all ports together can move"),
        &C::bank_bytes_per_cycle);
    key(number("ports", KeyUnit::kCount, 1, 1024, "ports of a scratchpad; initiators are spread over them in turn"),
        &C::ports);
    key(number("port_bandwidth", KeyUnit::kBytesPerCycle, 1, 65536, "one port's"), &C::port_bytes_per_cycle);
    key(config::kind("kind", "l1", "the L1 of a cluster"), &C::kind);
  }
};

enum class Swizzle : std::uint8_t { kNone, kXor };

// Parameters of L1 with kind `banked` alone.
struct BankConfig {
  std::uint64_t interleave_bytes = 0;  // 0: one word
  Swizzle swizzle = Swizzle::kNone;

  static void describe(config::Keys<BankConfig>& key) {
    using namespace config;
    using C = BankConfig;
    KeyInfo interleave = number("interleave", KeyUnit::kBytes, 0, kMiB,
                                "with kind banked: bytes of a bank before the next one's, a multiple of "
                                "l1.bank_bandwidth, which is a bank's word; 0: a word");
    key(interleave, &C::interleave_bytes);
    key(choice("swizzle", {"none", "xor"},
               "with kind banked: whether the bank's number is combined with the address bits above it, so that rows "
               "a multiple of all banks apart begin in different ones"),
        &C::swizzle);
  }
};

// Parameters of L0, one per core.
struct RegisterFileConfig {
  std::uint64_t size_bytes = 64 << 10;
  std::string kind = "register_file";

  static void describe(config::Keys<RegisterFileConfig>& key) {
    using namespace config;
    using C = RegisterFileConfig;
    key(number("size", KeyUnit::kBytes, 64, 64 * kMiB, "register file of a core; smaller than l1.size"),
        &C::size_bytes);
    key(config::kind("kind", "l0", "the L0 of a core"), &C::kind);
  }
};

// Bytes of L0 that each of a core's two engines has.
constexpr std::uint64_t l0_share_bytes(std::uint64_t l0_bytes) { return l0_bytes / 2; }

// Parameters of the L2: on-chip memory that all clusters share, beside DRAM in the address map.
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
    key(number("size", KeyUnit::kBytes, kKiB, kTiB, "of the L2, all clusters together"), &C::size_bytes);
    key(number("bandwidth", KeyUnit::kBandwidth, 1e6, 1e15, "of the L2, all clusters together"), &C::bytes_per_second);
    key(number("latency", KeyUnit::kTime, 0, 1e-3, "of the L2, request to first data"), &C::latency_seconds);
    key(flag("staging",
             "firmware copies K and V that it streams for several row blocks into the L2 once, each cluster "
             "into its equal part of it"),
        &C::staging);
  }
};

// Parameters that all kinds of DRAM share.
struct DramConfig {
  std::string policy = "fixed";
  std::uint64_t size_bytes = 6ULL << 30;
  double bytes_per_second = 30e9;
  double latency_seconds = 20e-9;  // request to first data, row open

  static void describe(config::Keys<DramConfig>& key) {
    using namespace config;
    using C = DramConfig;
    key(config::kind("policy", "dram", "timing of the DRAM"), &C::policy);
    key(number("size", KeyUnit::kBytes, kMiB, 16 * kTiB, "main memory"), &C::size_bytes);
    key(number("bandwidth", KeyUnit::kBandwidth, 1e6, 100e12, "peak, all clusters together"), &C::bytes_per_second);
    key(number("latency", KeyUnit::kTime, 0, 1e-3, "request to first data"), &C::latency_seconds);
  }
};

// Parameters of DRAM with the `fixed` policy alone.
struct FixedDramConfig {
  bool duplex = false;

  static void describe(config::Keys<FixedDramConfig>& key) {
    using namespace config;
    key(flag("duplex", "with policy fixed: reads and writes have a bus each, both of dram.bandwidth"),
        &FixedDramConfig::duplex);
  }
};

// Parameters of the cache in front of a DRAM with `dram.policy: cached`.
struct CacheConfig {
  std::uint64_t size_bytes = 40ULL << 20;
  std::uint64_t line_bytes = 4096;
  std::uint32_t sectors = 1;
  double bytes_per_second = 4e12;
  double latency_seconds = 200e-9;
  bool warm = false;
  std::uint32_t warm_percent = 100;
  std::uint32_t ways = 0;
  std::uint32_t slices = 1;
  std::uint32_t misses = 0;
  bool write_back = false;
  double write_latency_seconds = 0;

  static void describe(config::Keys<CacheConfig>& key) {
    using namespace config;
    using C = CacheConfig;
    key(number("l2_size", KeyUnit::kBytes, 4096, kTiB, "cache before the DRAM"), &C::size_bytes);
    key(power_of_two("l2_line", KeyUnit::kBytes, 32, 65536, "of the cache; what is replaced together"), &C::line_bytes);
    key(power_of_two("l2_sectors", KeyUnit::kCount, 1, 64,
                     "of a line, each of which comes from DRAM by itself; of 32 B or more: a line of fewer has fewer"),
        &C::sectors);
    key(number("l2_bandwidth", KeyUnit::kBandwidth, 1e6, 1e15, "of the cache, all clusters together"),
        &C::bytes_per_second);
    key(number("l2_latency", KeyUnit::kTime, 0, 1e-3, "request to first data where it is in the cache"),
        &C::latency_seconds);
    key(flag("l2_warm", "a job finds what it reads in the cache, as far as it has room: as when timed repeatedly"),
        &C::warm);
    key(number("l2_warm_percent", KeyUnit::kCount, 0, 100,
               "with l2_warm: share of the lines that a job finds, in percent: what operations since have left of it"),
        &C::warm_percent);
    key(number("l2_ways", KeyUnit::kCount, 0, 1U << 20,
               "lines of a set, of which the one used longest ago leaves; 0: any line may be anywhere"),
        &C::ways);
    key(number("l2_slices", KeyUnit::kCount, 1, 4096,
               "slices, among which lines take turns, each with its share of l2_bandwidth"),
        &C::slices);
    key(number("l2_misses", KeyUnit::kCount, 0, 1U << 20, "lines on their way from DRAM at once; 0: any number"),
        &C::misses);
    key(flag("l2_write_back", "what is written goes to DRAM when its line leaves the cache, not at once"),
        &C::write_back);
    key(number("l2_write_latency", KeyUnit::kTime, 0, 1e-3, "last data of a write to its acknowledgement"),
        &C::write_latency_seconds);
  }
};

}  // namespace attnvp
