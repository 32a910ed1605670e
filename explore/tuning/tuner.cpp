#include "explore/tuning/tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "explore/tuning/cache.h"
#include "platform/schedule/demand.h"

namespace attnvp::explore {

namespace {
constexpr std::uint64_t kMostCounted = 200'000;  // limit of counted events of a starting point
constexpr std::uint64_t kMostRepeated = 10'000;  // known vectors in turn, after which a space is considered exhausted
}  // namespace

Tuner::Tuner(Problem problem, const TuningOptions& options, const workload::Gemm* smaller)
    : problem_(std::move(problem)), options_(options), space_(problem_, smaller) {
  // The shortest runs come first, because later ones are stopped at their cost.
  std::multimap<std::uint64_t, ParameterVector> by_steps;
  for (const ParameterVector& start : space_.starts()) {
    by_steps.emplace(steps_of(problem_, space_.schedule(start), kMostCounted), start);
  }
  for (const auto& [steps, start] : by_steps) starts_.push_back(start);
  strategy_ = make_strategy(options.strategy, space_, options.seed, starts_);
}

double Tuner::least_cycles() const {
  const schedule::Job job = job::make_job(problem_.machine, problem_.network, first());
  return schedule::layer_demand(job, problem_.machine).cycles();
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
        if (ahead.size() < evaluations && !known_.contains(v) && space_.runs(v)) ahead.push_back(space_.schedule(v));
      }
      if (options_.jobs != 1 && ahead.size() > 1) evaluator.evaluate_ahead(ahead, strategy_->limit(), options_.jobs);
      std::reverse(proposed_.begin(), proposed_.end());
    }
    const ParameterVector vector = proposed_.back();
    proposed_.pop_back();
    const auto [known, fresh] = known_.try_emplace(vector);
    repeated_ = fresh ? 0 : repeated_ + 1;
    if (fresh && space_.runs(vector)) {
      log_.push_back(evaluator.evaluate(space_.schedule(vector), strategy_->limit()));
      --evaluations;
      known->second = log_.back().cost;
      least_cost_ = std::min(least_cost_, known->second.first);
      if (least_cost_ < kNoLimit) ++idle_;
      if (least_cost_ * options_.equal < last_gain_) last_gain_ = least_cost_, idle_ = 0;
      if (options_.progress) options_.progress({log_.size(), options_.evaluations, least_cost_});
    }
    strategy_->observe(vector, known->second);
  }
}

std::vector<Evaluation> ranked(std::vector<Evaluation> all, double equal, std::size_t most) {
  std::erase_if(all, [](const Evaluation& e) { return e.cost.first == kNoLimit; });
  double least = kNoLimit;
  for (const Evaluation& e : all) least = std::min(least, e.cost.first);
  const auto rank = [&](const Evaluation& e) {
    const bool near = e.cost.first <= equal * least;
    return std::make_tuple(!near, near && equal > 1 ? e.cost.second : e.cost.first, e.cost);
  };
  std::stable_sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  all.resize(std::min(all.size(), most));
  return all;
}

TuningResult search(const Problem& problem, const TuningOptions& options) {
  TuningOptions strict = options;
  strict.equal = 1;
  strict.is_patient = true;
  Tuner tuner(problem, strict);
  Evaluator evaluator(problem, options.objective);
  const double bound = options.objective == Objective::kCycles ? tuner.least_cycles() : 0;
  tuner.advance(evaluator, options.evaluations, bound);
  const std::vector<Evaluation> best = tuner.best(1);
  if (best.empty()) {
    throw job::RunError(fmt::format("{} on {} with {}: no tiling ran to its end", problem.network.name(),
                                    problem.machine.name, problem.schedule.text));
  }
  return {.best = best.front(),
          .bound = bound,
          .is_complete = tuner.is_complete(),
          .is_stopped = options.must_stop(),
          .points = tuner.space().coarse_points(),
          .seconds = evaluator.seconds(),
          .log = tuner.log()};
}

job::Schedule tune(const Problem& problem, const TuningOptions& options) {
  if (job::is_complete(problem.schedule)) {
    Space(problem).check_given();
    return problem.schedule;
  }
  const Cache cache(problem, options);
  if (const std::optional<job::Schedule> known = cache.find()) return *known;
  const Evaluation best = choose_from(variants_of(problem.schedule), problem, options).best();
  if (best.cycles > 0 && !options.must_stop()) cache.store(best);
  return best.schedule;
}

job::Schedule first_fit(const Problem& problem) {
  if (job::is_complete(problem.schedule)) return problem.schedule;
  Space space(problem);
  return space.schedule(space.starts().front());
}

}  // namespace attnvp::explore
