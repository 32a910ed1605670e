// Portfolio: several dataflows, or named variants of one, share a search budget by successive halving. All get a few
// evaluations, the better half gets twice that number, and so on. Full-fidelity runs decide among the last few.
#pragma once

#include <string>
#include <vector>

#include "explore/tuning/tuner.h"

namespace attnvp::explore {

struct Candidate {
  job::Schedule schedule;  // complete
  double cycles = 0;       // of the best evaluation
  bool is_whole = false;   // false: extrapolated from a smaller job
};

struct Portfolio {
  std::vector<Candidate> candidates;  // the best of each dataflow, the chosen one first
  double least_cycles = 0;            // lower bound for any schedule of the layer (platform/schedule/demand.h)
  std::string untried;                // dataflows not evaluated, because the chosen one is near the bound
  bool is_final = true;               // false: stopped early, or no schedule ran to its end
  const Candidate& best() const { return candidates.front(); }
  std::string sentence() const;  // gains over the other dataflows, and distance from the bound
};

// Variants that are searched separately: one for each named value of a parameter.
std::vector<job::Schedule> variants_of(const job::Schedule& schedule);
bool has_open_parameters(const job::Schedule& schedule);

// Throws config::ConfigError or job::RunError if no schedule supports the job.
Portfolio choose_from(const std::vector<job::Schedule>& schedules, const MachineConfig& machine,
                      const workload::Workload& network, const config::EnergyTable& energy,
                      const TuningOptions& options);

// Implements `--dataflow auto`: considers all dataflows for the network's operation. `tiling` applies to all.
Portfolio pick_dataflow(const MachineConfig& machine, const workload::Workload& network, const job::Tiling& tiling,
                        const config::EnergyTable& energy, const TuningOptions& options = {});

}  // namespace attnvp::explore
