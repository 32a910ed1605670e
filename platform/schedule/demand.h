// Demand of a layer on the machine, a lower bound for any schedule, and demand of one schedule's commands on engines
// and DRAM.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "models/machine.h"
#include "platform/schedule/bus.h"

namespace attnvp::schedule {

// Roofline bound: demand of a layer on the machine, a lower bound for any schedule. All multiply-accumulates use the
// MAC arrays; all scores use VEC lanes or the arrays; operands and result cross the DRAM bus once.
//
// Cycles of the DRAM bus, of all arrays and of all lanes; number of multiply-accumulates.
struct LayerDemand {
  double bus = 0, arrays = 0, lanes = 0, macs = 0;
  double cycles() const { return std::max({bus, arrays, lanes}); }
};
LayerDemand layer_demand(const Job& job, const MachineConfig& machine);

// Least cycles of DRAM, or of a cache before it, for `in` bytes read and `out` bytes written.
double bus_cycles(const MachineConfig& machine, double in, double out);

// Demand of a schedule's commands, from one untimed pass over all clusters' streams.
struct StreamDemand {
  double cycles = 0;         // lower bound of a run: maximum of the busiest engine, the DRAM bus and the layer
  std::uint64_t digest = 0;  // hash of all commands in order; equal schedules have equal digests
  std::uint64_t commands = 0;
};
// Stops, without digest, when more than `most_cycles` are needed.
StreamDemand stream_demand(const Job& job, const MachineConfig& machine,
                           double most_cycles = std::numeric_limits<double>::infinity());

// Lower bound of the cycles of any run of the schedule.
inline double least_cycles(const Job& job, const MachineConfig& machine) { return stream_demand(job, machine).cycles; }

// A quick one, from the layer and the engines of the first cluster, to which most schedules deal no less than to
// others.
double quick_least_cycles(const Job& job, const MachineConfig& machine);

// Cycles of the busiest MAC array and VEC engine, including ragged edges. If firmware distributes work by queue levels:
// the mean, as the distribution depends on the machine.
struct EngineDemand {
  double mac = 0, vec = 0;
};
// For each of the machines, which may differ only in their engines.
std::vector<EngineDemand> engine_demands(const Job& job, const std::vector<MachineConfig>& machines);

}  // namespace attnvp::schedule
