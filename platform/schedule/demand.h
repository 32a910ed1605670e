// What the commands of a schedule say, all clusters' streams read once and nothing simulated.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "models/machine.h"
#include "platform/schedule/bus.h"

namespace attnvp::schedule {

struct StreamDemand {
  double cycles = 0;         // no run takes fewer: the most of the busiest engine's, the DRAM bus's and the layer's
  std::uint64_t digest = 0;  // of all commands in their order: equal schedules have equal ones
  std::uint64_t commands = 0;
};
// Reading ends, with no digest, once more than `most_cycles` are needed.
StreamDemand stream_demand(const Job& job, const MachineConfig& machine,
                           double most_cycles = std::numeric_limits<double>::infinity());

// No run of the schedule takes fewer cycles.
inline double least_cycles(const Job& job, const MachineConfig& machine) { return stream_demand(job, machine).cycles; }

// Cycles that the commands take of the busiest MAC array and the busiest VEC engine, ragged edges included. Where
// firmware deals work by the queues' levels, the mean, as another machine may have it dealt otherwise.
struct EngineDemand {
  double mac = 0, vec = 0;
};
// On each of the machines, which differ in no more than their engines.
std::vector<EngineDemand> engine_demands(const Job& job, const std::vector<MachineConfig>& machines);

}  // namespace attnvp::schedule
