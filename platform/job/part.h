// Parts of a machine, each of which has a job to itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/machine.h"
#include "models/partition.h"

namespace attnvp::job {

// Clusters that follow each other.
struct Clusters {
  std::uint32_t first = 0, count = 0;
  std::uint32_t end() const { return first + count; }
  std::string text() const;  // "2", "0-1"
};
// "2" or "0-1". Throws config::ConfigError.
Clusters parse_clusters(const std::string& text);

struct Part {
  Clusters clusters;
  Partition partition;  // where the job's mailbox, DRAM and L2 are
  MachineConfig
      machine;  // as its firmware and the choice of its tiles see it: so many clusters, an even part of DRAM and L2
};
// In the order in which they are wanted. Throws config::ConfigError for clusters that are not there, or wanted twice.
std::vector<Part> parts_of(const MachineConfig& machine, const std::vector<Clusters>& wanted);

}  // namespace attnvp::job
