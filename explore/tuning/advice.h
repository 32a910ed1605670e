// Runs what a run's advice (platform/job/advice.h) proposes, so that a report says what it gives.
#pragma once

#include "explore/tuning/tuner.h"

namespace attnvp::explore {

// Fills result.bound.advice: pieces that make the job less than 1% faster are left out, up to the first that makes it
// faster by more, which has its trial. Pieces behind that are not tried. A job of more than 300,000 commands is too
// long to be run again: its advice is not tried.
void try_advice(job::Result& result, const MachineConfig& machine, const config::EnergyTable& energy,
                const TuningOptions& options);

}  // namespace attnvp::explore
