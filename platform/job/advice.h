// What would make a run faster: changes of the machine's keys, and another tiling, each with a factor that the gain
// cannot exceed.
//
// With the same commands the factor is the run's cycles over a lower bound of those on the changed machine: of the
// bounds by the layer's work and the commands' order (mapping/bound.h) and what the run took of each resource. So that
// a change that leaves the bound where it is gains nothing that can be known, whatever share of its time the resource
// was held: edges and waits within an engine are no use of it. With commands of its own the factor is that of the
// layer's work.
#pragma once

#include <vector>

#include "models/machine.h"
#include "platform/job/accounting.h"

namespace attnvp::job {

struct Result;

// The best first, at least one. `machine`: the one that the run was on.
std::vector<Advice> advice_for(const Result& result, const MachineConfig& machine);

}  // namespace attnvp::job
