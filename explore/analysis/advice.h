// Evaluates the advice of a run (platform/run/results/accounting.h) by simulating the changed machine, for the report.
#pragma once

#include "explore/tuning/tuner.h"

namespace attnvp::explore {

// Evaluates result.bound.advice in order, up to the first entry that makes the job at least 1% faster. That entry keeps
// its evaluation, earlier ones are dropped, later ones are not evaluated. Jobs of more than three million events are
// not evaluated.
void try_advice(job::RunResult& result, const MachineConfig& machine, const config::EnergyTable& energy,
                const TuningOptions& options);

}  // namespace attnvp::explore
