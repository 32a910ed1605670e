// Parts of a machine, each for one job.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/interconnect/address_map.h"
#include "models/machine.h"

namespace attnvp::job {

// Consecutive clusters.
struct Clusters {
  std::uint32_t first = 0, count = 0;
  std::uint32_t end() const { return first + count; }
  std::string text() const;  // "2", "0-1"
};
// Parses "2" or "0-1". Throws config::ConfigError.
Clusters parse_clusters(const std::string& text);

struct Part {
  Clusters clusters;
  Partition partition;  // mailbox, DRAM and L2 of the job
  MachineConfig
      machine;  // as its firmware and the choice of its tiles see it: so many clusters, an even part of DRAM and L2
};
// Parts in the requested order. Throws config::ConfigError for clusters that do not exist or are requested twice.
std::vector<Part> parts_of(const MachineConfig& machine, const std::vector<Clusters>& wanted);

}  // namespace attnvp::job
