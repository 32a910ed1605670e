// No run of a schedule takes fewer cycles. Two arguments, neither of which knows the dataflow:
//
// (1) Work: all of a layer's multiply-accumulates go through the MAC arrays, all of its scores through the lanes of the
//     VEC engines, all of Q, K, V and O over the DRAM bus, and what the commands themselves move and compute through
//     theirs.
// (2) Order: the command stream, replayed with every resource that queues share given to each of them alone
//     (replay.h, Contention::kBound). Commands begin no earlier than their tokens and the commands before them in their
//     queue let them, and take no less than their units need; all of these only ever delay each other, so that what is
//     left out cannot have made anything later.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "mapping/bus.h"
#include "models/machine.h"

namespace attnvp::mapping {

// What any schedule of the layer must move and compute: cycles of the DRAM bus, of the arrays and of the lanes,
// multiply-accumulates.
struct LayerDemand {
  double bus = 0, arrays = 0, lanes = 0, macs = 0;
  double out = 0;  // of the bus, what O takes
  double cycles() const { return std::max({bus, arrays, lanes}); }
};
LayerDemand layer_demand(const Job& job, const MachineConfig& machine);

// For all schedules that have these commands, whatever is in them (Parameter::in_command); infinite for a schedule that
// never ends. `most`: commands of a cluster that are looked at.
constexpr std::size_t kMostReplayed = 24000;
double least_cycles(const Job& job, const MachineConfig& machine, std::size_t most = kMostReplayed);

// Cycles that the commands take of the busiest MAC array and the busiest VEC engine, ragged edges included. Where
// firmware deals work by the queues' levels, the mean, as another machine may have it dealt otherwise.
struct EngineDemand {
  double mac = 0, vec = 0;
};
// On each of the machines, which differ in no more than their engines.
std::vector<EngineDemand> engine_demands(const Job& job, const std::vector<MachineConfig>& machines);

}  // namespace attnvp::mapping
