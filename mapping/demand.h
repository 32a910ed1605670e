// What the commands of a schedule say, all clusters' streams read once and nothing simulated.
#pragma once

#include <cstdint>

#include "mapping/bus.h"
#include "models/machine.h"

namespace attnvp::mapping {

struct StreamDemand {
  double cycles = 0;         // no run takes fewer: the most of the busiest engine's, the DRAM bus's and the layer's
  std::uint64_t digest = 0;  // of all commands in their order: equal schedules have equal ones
  std::uint64_t commands = 0;
};
StreamDemand stream_demand(const Job& job, const MachineConfig& machine);

}  // namespace attnvp::mapping
