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
constexpr std::uint64_t kMostRepeated = 10'000;  // known vectors in turn, after which a space is considered exhausted
}  // namespace

Tuner::Tuner(Problem problem, const TuningOptions& options, const workload::Gemm* smaller)
    : problem_(std::move(problem)), options_(options), space_(problem_, smaller), starts_(space_.starts()) {
  // The shortest runs come first, because later ones are stopped at their cost.
  std::vector<std::pair<std::uint64_t, ParameterVector>> counted;
  for (const ParameterVector& start : starts_) {
    const schedule::Job job = job::make_job(problem_.machine, problem_.network, space_.schedule(start));
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

void Tuner::advance(Evaluator& evaluator, std::uint64_t evaluations, double enough) {
  while (evaluations > 0 && !options_.must_stop()) {
    has_ended_ = least_cost() <= enough || (!options_.is_patient && 4 * idle_ >= options_.evaluations) ||
                 repeated_ >= kMostRepeated;
    if (has_ended_) return;
    if (proposed_.empty()) {
      proposed_ = strategy_->propose();
      has_ended_ = proposed_.empty();
      if (has_ended_) return;
      std::vector<job::Schedule> ahead;
      for (const ParameterVector& v : proposed_) {
        if (ahead.size() < evaluations && known_.count(v) == 0 && space_.runs(v)) ahead.push_back(space_.schedule(v));
      }
      if (options_.jobs != 1 && ahead.size() > 1) evaluator.evaluate_ahead(ahead, strategy_->limit(), options_.jobs);
      std::reverse(proposed_.begin(), proposed_.end());
    }
    const ParameterVector vector = proposed_.back();
    proposed_.pop_back();
    const auto [known, fresh] = known_.try_emplace(vector);
    repeated_ = fresh ? 0 : repeated_ + 1;
    if (!fresh || !space_.runs(vector)) {
      strategy_->observe(vector, known->second);
      continue;
    }
    const Evaluation evaluation = evaluator.evaluate(space_.schedule(vector), strategy_->limit());
    known->second = evaluation.cost;
    --evaluations;
    const double best = std::min(least_cost(), evaluation.cost.first);
    if (std::isfinite(best)) ++idle_;
    if (best * options_.equal < last_gain_) last_gain_ = best, idle_ = 0;
    log_.push_back({evaluation.schedule.tiling, evaluation.cost.first, best});
    if (std::isfinite(evaluation.cost.first)) found_.push_back(evaluation);
    if (options_.progress) options_.progress({log_.size(), options_.evaluations, {best, 0}});
    strategy_->observe(vector, evaluation.cost);
  }
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
  sort_by_cost(all, options_.equal);
  if (all.size() > most) all.resize(most);
  return all;
}

TuningResult search(const Problem& problem, const TuningOptions& options) {
  TuningOptions strict = options;
  strict.equal = 1;
  strict.is_patient = true;
  Tuner tuner(problem, strict);
  Evaluator evaluator(problem.machine, problem.network, problem.energy, options.objective, std::nullopt);
  TuningResult result;
  if (options.objective == Objective::kCycles) {
    const schedule::Job job = job::make_job(problem.machine, problem.network, tuner.first());
    result.bound = schedule::layer_demand(job, problem.machine).cycles();
  }
  tuner.advance(evaluator, options.evaluations, result.bound);
  const std::vector<Evaluation> best = tuner.best(1);
  if (best.empty()) {
    throw job::RunError(fmt::format("{} on {} with {}: no tiling ran to its end", problem.network.name(),
                                    problem.machine.name, problem.schedule.text));
  }
  result.best = best.front();
  result.is_complete = tuner.is_complete();
  result.is_stopped = options.must_stop();
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
    if (!space.runs(space.given())) space.refuse();
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
  return space.schedule(space.starts().front());
}

}  // namespace attnvp::explore
