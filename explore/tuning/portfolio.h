// Several dataflows, or named variants of one (`weave`'s walks), share a budget by successive halving: all get a few
// evaluations, the better half gets twice as many, and so on until one is left; whole runs of the best few decide.
#pragma once

#include <string>
#include <vector>

#include "explore/tuning/tuner.h"

namespace attnvp::explore {

struct Candidate {
  job::Schedule schedule;  // complete
  double cycles = 0;       // of the best evaluation
  bool is_whole = false;   // of the whole job; otherwise extrapolated from a smaller one
  double cost = 0;         // in the objective's unit
};

struct Portfolio {
  std::vector<Candidate> candidates;  // the chosen one first
  double least_cycles = 0;            // that any schedule of the layer takes (platform/schedule/bound.h)
  std::string left_out;               // dataflows that do not take the layer, and why
  std::string untried;                // those that were not evaluated, as the chosen one is near the bound
  bool is_final = true;               // false: stopped before its end, or nothing ran to its end
  const Candidate& best() const { return candidates.front(); }
  std::string sentence() const;  // what the chosen one beats, by how much, and how far from the bound it is
};

// Those that are worth a search of their own: one for each value of a parameter whose values have names.
std::vector<job::Schedule> variants_of(const job::Schedule& schedule);
bool has_open_parameters(const job::Schedule& schedule);

// Throws config::ConfigError or job::RunError where none of them takes the job.
Portfolio choose_from(const std::vector<job::Schedule>& schedules, const MachineConfig& machine,
                      const config::Network& network, const config::EnergyTable& energy, const TuningOptions& options);

// `--dataflow auto`: all dataflows that make what the network is. `tiling` is given to all.
Portfolio pick_dataflow(const MachineConfig& machine, const config::Network& network, const job::Tiling& tiling,
                        const config::EnergyTable& energy, const TuningOptions& options = {});

}  // namespace attnvp::explore
