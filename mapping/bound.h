// Lower bounds by counting.
//
// layer_demand(): what any schedule of a layer needs of the machine. All multiply-accumulates go through the MAC arrays,
// all scores through the lanes of the VEC engines or the arrays, every operand and the result over the DRAM bus once.
// least_cycles(): the same for one schedule, whose command stream says what each engine and the DRAM bus must do.
#pragma once

#include <algorithm>
#include <cstdint>

#include "mapping/bus.h"
#include "models/machine.h"

namespace attnvp::mapping {

// Cycles of the DRAM bus, of all arrays and of all lanes; multiply-accumulates.
struct LayerDemand {
  double bus = 0, arrays = 0, lanes = 0, macs = 0;
  double cycles() const { return std::max({bus, arrays, lanes}); }
};
LayerDemand layer_demand(const Job& job, const MachineConfig& machine);

// Cycles that `in` bytes read and `out` bytes written take of DRAM, or of a cache before it, at least.
double bus_cycles(const MachineConfig& machine, double in, double out);

// What the commands of a schedule say, all clusters' streams read once.
struct StreamDemand {
  double cycles = 0;          // no run takes fewer: the busiest engine's, the DRAM bus's and the layer's
  std::uint64_t digest = 0;   // of all commands in their order: equal schedules have equal ones
  std::uint64_t commands = 0;
};
StreamDemand stream_demand(const Job& job, const MachineConfig& machine);

// No run of the schedule takes fewer cycles.
inline double least_cycles(const Job& job, const MachineConfig& machine) { return stream_demand(job, machine).cycles; }

}  // namespace attnvp::mapping
