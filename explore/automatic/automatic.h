// `--dataflow auto`: which dataflow, with which tiling, for a layer on a machine.
//
// All of them against each other (job/contest.h), and the ways of such that have several (job/ways.h); the fastest is
// taken, and where it is not as fast as nearly any schedule can be, with tiles beside its own that run faster.
#pragma once

#include <string>
#include <vector>

#include "models/machine.h"
#include "platform/config/energy.h"
#include "platform/job/contest.h"

namespace attnvp::explore {

struct Automatic {
  std::vector<job::Contender> contenders;  // the one that is taken first, then those that were run, then the others
  double least_cycles = 0;                 // what any schedule of the layer must move and compute takes as long
  std::string left_out;                    // dataflows that do not take the layer, and why
  const job::Schedule& schedule() const { return contenders.front().schedule; }
  std::string sentence() const;  // what it beat, by how much, and how far from the least it is
};

// `tiling`: what is given of it, for all. Throws config::ConfigError or job::RunError where no dataflow takes the job.
Automatic pick_dataflow(const MachineConfig& machine, const config::Network& network, const job::Tiling& tiling,
                        const config::EnergyTable& energy);

}  // namespace attnvp::explore
