// What would make a run faster: changes of the machine's keys, and another tiling, each with a factor that the gain
// cannot exceed.
//
// With the same commands the factor is the run's cycles over a lower bound of those on the changed machine: what the
// layer needs (platform/schedule/bound.h), what the commands need of the engines, and what the run took of everything
// else. A change is advised where it lowers that bound. So edges and waits within an engine are no use of it. With
// commands of its own, a tiling's factor is by what the layer needs.
#pragma once

#include <vector>

#include "models/machine.h"
#include "platform/job/accounting.h"

namespace attnvp::job {

struct Result;

// The best first, at least one. `machine`: the one that the run was on.
std::vector<Advice> advice_for(const Result& result, const MachineConfig& machine);

}  // namespace attnvp::job
