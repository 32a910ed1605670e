// Roofline bound: demand of a layer on the machine, a lower bound for any schedule. All multiply-accumulates use the
// MAC arrays; all scores use VEC lanes or the arrays; operands and result cross the DRAM bus once.
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/machine.h"
#include "platform/schedule/bus.h"

namespace attnvp::schedule {

// Cycles of the DRAM bus, of all arrays and of all lanes; number of multiply-accumulates.
struct LayerDemand {
  double bus = 0, arrays = 0, lanes = 0, macs = 0;
  double cycles() const { return std::max({bus, arrays, lanes}); }
};
LayerDemand layer_demand(const Job& job, const MachineConfig& machine);

// Least cycles of DRAM, or of a cache before it, for `in` bytes read and `out` bytes written.
double bus_cycles(const MachineConfig& machine, double in, double out);

}  // namespace attnvp::schedule
