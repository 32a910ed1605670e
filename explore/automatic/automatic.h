// `--dataflow auto`: which dataflow, with which tiling, for a layer on a machine.
//
// Every dataflow that takes the layer is looked at where the choice of its tiles begins (mapping/choose.h). Of those
// that begin near the best, the likeliest first, tiles are chosen and a timing run made, until one is as fast as nearly
// any schedule can be; the fastest is taken, and where it is not that near, with tiles beside its own that run faster.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/machine.h"
#include "platform/config/energy.h"
#include "platform/job/schedule.h"

namespace attnvp::explore {

struct Contender {
  job::Schedule open;        // as given
  job::Schedule schedule;    // complete: chosen, or where the choice begins
  double estimate = 0;       // cycles, of where it begins
  std::uint64_t cycles = 0;  // simulated; 0: the estimate was enough
  double rank() const { return cycles == 0 ? estimate : static_cast<double>(cycles); }
};

struct Automatic {
  std::vector<Contender> contenders;  // the one that is taken first, then those that were simulated, then the others
  double least_cycles = 0;            // what any schedule of the layer must move and compute takes as long
  std::string left_out;               // dataflows that do not take the layer, and why
  const job::Schedule& schedule() const { return contenders.front().schedule; }
  std::string sentence() const;  // what it beat, by how much, and how far from the least it is
};

// `tiling`: what is given of it, for all. Throws config::ConfigError or job::RunError where no dataflow takes the job.
Automatic pick_dataflow(const MachineConfig& machine, const config::Network& network, const job::Tiling& tiling,
                        const config::EnergyTable& energy);

}  // namespace attnvp::explore
