// Tiling search: the best tile sizes of a layer on a machine, by simulation, with a lower bound to judge them by.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "explore/search/evaluator.h"

namespace attnvp::explore {

struct SearchOptions {
  Objective objective = Objective::kCycles;
  std::string strategy = "ga";  // grid, ga, mcts
  std::uint64_t budget = 400;   // simulations at most; 0: as many as the space has points
  std::uint64_t seed = 1;
  unsigned jobs = 1;               // processes; 0: as many as the host has processors; mcts uses one
  bool prune = true;               // by the bound; off: every point that the strategy comes upon is simulated
  bool start_from_default = true;  // the choice that a run makes by itself is tried first; ga goes on from it
  std::function<void(const Evaluator&)> progress;
};

struct SearchResult {
  job::Tiling best;  // complete
  double cost = 0;   // cycles, pJ or J s
  std::uint64_t cycles = 0;
  double energy_pj = 0;
  double bound = 0;          // no tiling of the space costs less, nor does the default (proved); objective's unit
  bool complete = false;     // no tiling of the space costs less than `cost`, which was shown by simulating all others
                             // whose bound is lower
  std::uint64_t points = 0;  // of the space
  std::uint64_t evaluations = 0, refused = 0;  // simulations; of these, too large for L1
  double seconds = 0;                          // in simulations
  std::vector<Evaluation> log;

  double gap() const { return bound > 0 ? cost / bound - 1 : 0; }
};

// Throws job::RunError when firmware refuses every tiling, or for a fault or deadlock; config::ConfigError for an
// unknown strategy. Under sc_main, with no job::Runner alive.
SearchResult search(const Problem& problem, const Space& space, const SearchOptions& options);

// Quick: the genetic algorithm for cycles, from firmware's own choice on; never worse than that one.
job::Tiling find_tiling(const MachineConfig& machine, const config::Network& network, const job::Schedule& schedule,
                        const config::EnergyTable& energy, std::uint64_t budget = 200);

const char* name_of(Objective objective);  // "cycles", "energy", "edp"
const char* unit_of(Objective objective);  // "cycles", "pJ", "J s"

}  // namespace attnvp::explore
