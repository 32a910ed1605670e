// Advice for a faster run: changes of machine keys and another tiling, each with an upper limit of the gain.
//
// With unchanged commands, the limit is the run's cycles over a lower bound for the changed machine. The bound includes
// the demand of the layer (platform/schedule/demand.h), of the commands on each engine, and the run's use of other
// resources. Changes that lower the bound are advised; edges and waits within an engine do not count. A tiling changes
// the commands; its limit is based on the demand of the layer.
#pragma once

#include <vector>

#include "models/machine.h"
#include "platform/run/results/accounting.h"

namespace attnvp::job {

struct RunResult;

// Best first, at least one. `machine`: the machine of the run.
std::vector<Advice> advice_for(const RunResult& result, const MachineConfig& machine);

}  // namespace attnvp::job
