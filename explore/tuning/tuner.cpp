#include "explore/tuning/tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "explore/tuning/cache.h"
#include "explore/tuning/portfolio.h"
#include "platform/machine/error.h"
#include "platform/schedule/counter.h"
#include "platform/schedule/demand.h"

namespace attnvp::explore {

namespace {
constexpr std::uint64_t kMostCounted = 200'000;  // limit of counted events of a starting point
}  // namespace

Tuner::Tuner(Problem problem, const TuningOptions& options, const TileLimits& limits)
    : problem_(std::move(problem)), options_(options), space_(problem_, limits), starts_(space_.starts()) {
  if (starts_.empty()) space_.refuse();
  // The shortest runs come first, because later ones are stopped at their cost.
  std::vector<std::pair<std::uint64_t, ParameterVector>> counted;
  job::Schedule schedule = problem_.schedule;
  for (const ParameterVector& start : starts_) {
    schedule.tiling = space_.tiling(start);
    const schedule::Job job = job::make_job(problem_.machine, problem_.network, schedule);
    counted.emplace_back(schedule::count_steps(job, burst_bytes(problem_.machine), kMostCounted), start);
  }
  std::stable_sort(counted.begin(), counted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < starts_.size(); ++i) starts_[i] = counted[i].second;
  strategy_ = make_strategy(options.strategy, space_, options.seed, starts_);
  if (strategy_ == nullptr) {
    throw config::ConfigError(
        fmt::format("strategy '{}' is unknown; allowed: descent, grid, ga, mcts", options.strategy));
  }
}

job::Schedule Tuner::first() const {
  job::Schedule schedule = problem_.schedule;
  schedule.tiling = space_.tiling(starts_.front());
  return schedule;
}

bool Tuner::advance(Evaluator& evaluator, std::uint64_t evaluations, double enough) {
  job::Schedule schedule = problem_.schedule;
  double best = log_.empty() ? Cost().first : log_.back().best;
  while (evaluations > 0 && !(options_.is_stopped && options_.is_stopped())) {
    if (best <= enough || (!options_.is_patient && 4 * idle_ >= options_.evaluations)) return false;
    if (proposed_.empty()) {
      proposed_ = strategy_->propose();
      if (proposed_.empty()) return false;
      if (options_.jobs != 1 && proposed_.size() > 1) {
        std::vector<job::Schedule> ahead;
        for (std::size_t i = 0; i < std::min<std::size_t>(proposed_.size(), evaluations); ++i) {
          schedule.tiling = space_.tiling(proposed_[i]);
          ahead.push_back(schedule);
        }
        evaluator.evaluate_ahead(ahead, strategy_->limit(), options_.jobs);
      }
      std::reverse(proposed_.begin(), proposed_.end());
    }
    const ParameterVector vector = proposed_.back();
    proposed_.pop_back();
    schedule.tiling = space_.tiling(vector);
    const Evaluation& evaluation = evaluator.evaluate(schedule, strategy_->limit());
    --evaluations;
    best = std::min(best, evaluation.cost.first);
    if (std::isfinite(best)) ++idle_;
    if (best * options_.equal < last_gain_) last_gain_ = best, idle_ = 0;
    log_.push_back({schedule.tiling, evaluation.cost.first, best});
    if (std::isfinite(evaluation.cost.first)) found_.push_back(evaluation);
    if (options_.progress) options_.progress({log_.size(), options_.evaluations, {best, 0}});
    strategy_->observe(vector, evaluation.cost);
  }
  return true;
}

void sort_by_cost(std::vector<Evaluation>& all, double equal) {
  double least = Cost().first;
  for (const Evaluation& e : all) least = std::min(least, e.cost.first);
  const auto rank = [&](const Evaluation& e) {
    const bool near = e.cost.first <= equal * least;
    return std::make_tuple(!near, near && equal > 1 ? e.cost.second : e.cost.first, e.cost.first, e.cost.second);
  };
  std::stable_sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
}

std::vector<Evaluation> Tuner::best(std::size_t most) const {
  std::vector<Evaluation> all = found_;
  if (all.empty()) return all;
  sort_by_cost(all, options_.equal);
  const auto same = [](const Evaluation& a, const Evaluation& b) { return a.schedule.tiling == b.schedule.tiling; };
  all.erase(std::unique(all.begin(), all.end(), same), all.end());
  if (all.size() > most) all.resize(most);
  return all;
}

namespace {

double bound_of(const Problem& p, const TuningOptions& o, const job::Schedule& schedule) {
  if (o.objective != Objective::kCycles) return 0;
  return schedule::layer_demand(job::make_job(p.machine, p.network, schedule), p.machine).cycles();
}

[[noreturn]] void refuse_all(const Problem& p) {
  throw job::RunError(
      fmt::format("{} on {} with {}: no tiling ran to its end", p.network.name(), p.machine.name, p.schedule.text));
}

}  // namespace

TuningResult search(const Problem& problem, const TuningOptions& options) {
  TuningOptions strict = options;
  strict.equal = 1;
  strict.is_patient = true;
  Tuner tuner(problem, strict);
  Evaluator evaluator(problem.machine, problem.network, problem.energy, options.objective, std::nullopt);
  TuningResult result;
  result.bound = bound_of(problem, options, tuner.first());
  const bool left = tuner.advance(evaluator, options.evaluations, result.bound);
  const std::vector<Evaluation> best = tuner.best(1);
  if (best.empty()) refuse_all(problem);
  result.best = best.front();
  result.is_complete = tuner.is_complete() && !left;
  result.is_stopped = options.is_stopped && options.is_stopped();
  result.points = tuner.space().coarse_points();
  result.seconds = evaluator.seconds();
  result.log = tuner.log();
  return result;
}

job::Schedule tune(const MachineConfig& machine, const workload::Workload& network, const job::Schedule& schedule,
                   const config::EnergyTable& energy, const TuningOptions& options) {
  const Problem problem{machine, network, schedule, energy};
  if (!has_open_parameters(schedule)) {
    Space space(problem);
    if (!space.runs(space.vector(schedule.tiling))) space.refuse();
    return schedule;
  }
  const Cache cache(options.use_cache);
  const std::string key = cache_key(problem, options);
  if (std::optional<job::Tiling> known = cache.find(key, *schedule.firmware)) {
    job::Schedule chosen = schedule;
    chosen.tiling = *known;
    return chosen;
  }
  const Portfolio portfolio = choose_from(variants_of(schedule), machine, network, energy, options);
  const job::Schedule chosen = portfolio.best().schedule;
  if (portfolio.is_final) cache.store(key, problem, chosen.tiling, portfolio.best().cycles);
  return chosen;
}

job::Schedule first_fit(const MachineConfig& machine, const workload::Workload& network,
                        const job::Schedule& schedule) {
  if (!has_open_parameters(schedule)) return schedule;
  const Problem problem{machine, network, schedule, {}};
  Space space(problem);
  const std::vector<ParameterVector> starts = space.starts();
  if (starts.empty()) space.refuse();
  job::Schedule chosen = schedule;
  chosen.tiling = space.tiling(starts.front());
  return chosen;
}

}  // namespace attnvp::explore
