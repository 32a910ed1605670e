#include "explore/search/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "explore/search/strategy.h"
#include "platform/config/error.h"

namespace attnvp::explore {

const char* name_of(Objective objective) {
  return objective == Objective::kCycles ? "cycles" : objective == Objective::kEnergy ? "energy" : "edp";
}

const char* unit_of(Objective objective) {
  return objective == Objective::kCycles ? "cycles" : objective == Objective::kEnergy ? "pJ" : "J s";
}

SearchResult search(const Problem& problem, const Space& space, const SearchOptions& o) {
  Evaluator evaluator(problem, space,
                      {o.objective, o.budget > 0 ? o.budget : space.size() + 1, o.prune, o.jobs, o.progress});
  std::vector<Point> start;
  if (o.start_from_default) {
    evaluator.cost_of_default();
    if (evaluator.found()) start.push_back(space.nearest(evaluator.best_tiling()));
  }
  const auto strategy = make_strategy(o.strategy, o.seed, std::move(start));
  if (strategy == nullptr)
    throw config::ConfigError(fmt::format("strategy '{}' is unknown; allowed: grid, ga, mcts", o.strategy));
  strategy->run(evaluator);
  if (!evaluator.found()) {
    throw job::RunError(fmt::format("{} on {} with {}: none of the {} tilings tried fits into L1 and L0",
                                    problem.network.name, problem.machine.name, problem.schedule.text,
                                    evaluator.log().size()));
  }
  SearchResult r;
  r.best = evaluator.best_tiling();
  r.cost = evaluator.best().first;
  r.cycles = evaluator.best_cycles();
  r.energy_pj = evaluator.best_energy_pj();
  r.bound = std::min(evaluator.space_bound(), evaluator.default_bound());
  r.complete = strategy->complete();
  r.points = space.size();
  r.evaluations = evaluator.log().size();
  r.refused = evaluator.refused();
  r.seconds = evaluator.seconds();
  r.log = evaluator.log();
  return r;
}

job::Tiling find_tiling(const MachineConfig& machine, const config::Network& network, const job::Schedule& schedule,
                        const config::EnergyTable& energy, std::uint64_t budget) {
  const Problem problem{machine, network.folded(), schedule, energy};
  SearchOptions options;
  options.budget = budget;
  return search(problem, Space(problem), options).best;
}

}  // namespace attnvp::explore
