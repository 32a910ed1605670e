// Parameters of interconnects.
#pragma once

#include <cstdint>
#include <string>

#include "models/keys/key.h"

namespace attnvp {

// Parameters that all kinds of interconnect share.
struct InterconnectConfig {
  std::string kind = "ideal";

  static void describe(config::Keys<InterconnectConfig>& key) {
    key(config::kind("kind", "interconnect", "the network of control and DRAM"), &InterconnectConfig::kind);
  }
};

// Parameters of networks with links (kinds `crossbar` and `mesh`).
struct NetworkConfig {
  std::uint32_t link_bytes = 64;
  double hertz = 0;  // 0: the platform clock
  std::uint32_t hop_cycles = 1;
  std::uint32_t columns = 0;
  std::uint32_t dram_ports = 1;
  std::uint64_t dram_interleave_bytes = 4096;
  bool multicast = false;

  static void describe(config::Keys<NetworkConfig>& key) {
    using namespace config;
    using C = NetworkConfig;
    key(power_of_two("link_width", KeyUnit::kBytes, 1, 4096,
                     "with kinds crossbar and mesh: a flit, of which a link takes one a cycle"),
        &C::link_bytes);
    key(number("clock", KeyUnit::kFrequency, 0, 100e9, "with kinds crossbar and mesh: of the links; 0: the platform's"),
        &C::hertz);
    key(number("hop_latency", KeyUnit::kCycles, 1, 10000,
               "with kinds crossbar and mesh: from link to link, in cycles of interconnect.clock"),
        &C::hop_cycles);
    key(number("mesh_columns", KeyUnit::kCount, 0, 1024, "with kind mesh: nodes in a row; 0: as square as it can be"),
        &C::columns);
    key(number("dram_ports", KeyUnit::kCount, 1, 1024,
               "with kinds crossbar and mesh: nodes through which DRAM is reached, spread evenly among the clusters"),
        &C::dram_ports);
    key(power_of_two("dram_interleave", KeyUnit::kBytes, 16, kGiB,
                     "with kinds crossbar and mesh: bytes of DRAM behind a port before the next one's"),
        &C::dram_interleave_bytes);
    key(flag("multicast",
             "with kinds crossbar and mesh: a DMA's read of bytes of DRAM that another cluster has asked for, and not "
             "yet "
             "got, is not made again; the answer goes to both, over shared links once"),
        &C::multicast);
  }
};

}  // namespace attnvp
