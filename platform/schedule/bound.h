// A lower bound by counting: what any schedule of a layer needs of the machine. All multiply-accumulates go through the
// MAC arrays, all scores through the lanes of the VEC engines or the arrays, every operand and the result over the DRAM
// bus once.
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/machine.h"
#include "platform/schedule/bus.h"

namespace attnvp::schedule {

// Cycles of the DRAM bus, of all arrays and of all lanes; multiply-accumulates.
struct LayerDemand {
  double bus = 0, arrays = 0, lanes = 0, macs = 0;
  double cycles() const { return std::max({bus, arrays, lanes}); }
};
LayerDemand layer_demand(const Job& job, const MachineConfig& machine);

// Cycles that `in` bytes read and `out` bytes written take of DRAM, or of a cache before it, at least.
double bus_cycles(const MachineConfig& machine, double in, double out);

}  // namespace attnvp::schedule
