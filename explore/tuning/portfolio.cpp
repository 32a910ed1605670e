#include <algorithm>
#include <exception>
#include <memory>
#include <set>

#include "explore/tuning/tuner.h"
#include "platform/machine/error.h"
#include "platform/schedule/programs.h"

namespace attnvp::explore {

namespace {

constexpr std::uint64_t kFirstShare = 8;       // minimum of initial evaluations per dataflow
constexpr std::size_t kWholeRuns = 3;          // full-fidelity runs of the best candidates
constexpr std::uint64_t kMostWhole = 300'000;  // events of a job above which no full-fidelity runs are made
// An evaluation of more than kLongEvaluation * options.sample_steps events counts as several, but at least
// kFewestEvaluations are made. Assumption: limits the time for long sequences; the effect on quality was not measured.
constexpr std::uint64_t kLongEvaluation = 4, kFewestEvaluations = 24;

using Arms = std::vector<std::unique_ptr<Tuner>>;

// Tuners of the schedules that support the layer. Throws if there are none.
Arms arms_of(const std::vector<job::Schedule>& schedules, const Problem& problem, const TuningOptions& options) {
  Arms arms;
  std::exception_ptr first_error;
  bool any_run_error = false;
  std::string reasons;
  const auto leave_out = [&](const char* why) {
    if (first_error == nullptr) first_error = std::current_exception();
    if (reasons.find(why) == std::string::npos) reasons += (reasons.empty() ? "" : "; ") + std::string(why);
  };
  for (const job::Schedule& schedule : schedules) {
    try {
      Problem own = problem;
      own.schedule = schedule;
      arms.push_back(std::make_unique<Tuner>(own, options));
    } catch (const job::RunError& e) {
      any_run_error = true;
      leave_out(e.what());
    } catch (const config::ConfigError& e) {
      leave_out(e.what());
    }
  }
  if (!arms.empty()) return arms;
  if (schedules.size() == 1) std::rethrow_exception(first_error);
  if (any_run_error) throw job::RunError(reasons);
  throw config::ConfigError(reasons);
}

// Successive halving. The cheapest arm is the first one afterwards.
void halve(Arms& arms, Evaluator& evaluator, std::uint64_t budget, double enough, const TuningOptions& options) {
  std::size_t going = arms.size();
  std::uint64_t share = arms.size() == 1 ? budget : std::max<std::uint64_t>(kFirstShare, budget / 16);
  for (bool any = true; any; share *= 2, going = (going + 1) / 2) {
    any = false;
    for (std::size_t i = 0; i < going; ++i) {
      const std::uint64_t done = arms[i]->log().size();
      if (arms[i]->has_ended() || done >= budget) continue;
      arms[i]->advance(evaluator, std::min(share, budget - done), enough);
      any = true;
      if (arms[i]->least_cost() <= enough && !evaluator.is_partial()) break;  // that of a smaller job may be too low
    }
    std::stable_sort(arms.begin(), arms.end(),
                     [](const auto& a, const auto& b) { return a->least_cost() < b->least_cost(); });
    any = any && !options.must_stop() && arms.front()->least_cost() > enough;
  }
}

// Full-fidelity runs of the best candidates of the best arm and of the next ones, by cost.
std::vector<Evaluation> run_whole(const Arms& arms, const Problem& problem, const TuningOptions& options) {
  std::vector<Evaluation> few = arms.front()->best(arms.size() == 1 ? kWholeRuns : 2);
  for (std::size_t i = 1; i < arms.size() && few.size() < kWholeRuns + 1; ++i) {
    for (const Evaluation& e : arms[i]->best(1)) few.push_back(e);
  }
  const bool is_long = steps_of(problem, few.front().schedule, kMostWhole) >= kMostWhole;
  if (few.size() == 1 || is_long) return {};
  Evaluator evaluator(problem, options.objective, std::nullopt, options.simulated);
  for (Evaluation& e : few) e = evaluator.evaluate(e.schedule);
  return ranked(few, options.equal, few.size());
}

// Evaluations of each arm, fewer of long runs.
std::uint64_t budget_of(const Tuner& arm, const Problem& evaluated, const TuningOptions& options) {
  const std::uint64_t usual = kLongEvaluation * options.sample_steps, budget = options.evaluations;
  const std::uint64_t steps = steps_of(evaluated, arm.first(), usual * (budget / kFewestEvaluations + 1));
  return steps > usual ? std::min(budget, std::max(budget * usual / steps, kFewestEvaluations)) : budget;
}

}  // namespace

std::vector<job::Schedule> variants_of(const job::Schedule& schedule) {
  const firmware::Dataflow& dataflow = schedule.declaration();
  std::vector<job::Schedule> all;
  for (const firmware::Parameter* const* p = dataflow.parameters; *p != nullptr; ++p) {
    if ((*p)->named == nullptr || schedule.tiling[(*p)->name] != 0) continue;
    for (std::uint32_t value = 1; value <= (*p)->most; ++value) {
      all.push_back(schedule);
      all.back().tiling.set((*p)->name, value);
    }
    return all;
  }
  return {schedule};
}

Portfolio choose_from(const std::vector<job::Schedule>& schedules, const Problem& problem,
                      const TuningOptions& options) {
  Arms arms = arms_of(schedules, problem, options);
  const job::Schedule first = arms.front()->first();
  Portfolio result;
  result.least_cycles = arms.front()->least_cycles();
  std::optional<Sample> sample;
  std::uint64_t budget = options.evaluations;
  if (options.sample_steps > 0) {
    sample = sample_of(problem, first, options.sample_steps);
    if (sample && problem.network.gemm() != nullptr) {  // tiles must not exceed the smaller product
      for (auto& arm : arms) arm = std::make_unique<Tuner>(arm->problem(), options, sample->small.network.gemm());
    }
    budget = budget_of(*arms.front(), sample ? sample->large : problem, options);
  }
  const double enough = options.objective == Objective::kCycles ? options.enough * result.least_cycles : 0;
  {
    Evaluator evaluator(problem, options.objective, sample, options.simulated);
    halve(arms, evaluator, budget, enough, options);
  }
  if (arms.front()->least_cost() == kNoLimit) {
    if (!sample) return {{{first, {}}}, result.least_cycles, {}};  // the final run reports the reason
    TuningOptions whole = options;                                 // all tiles exceed the smaller job
    whole.sample_steps = 0;
    return choose_from(schedules, problem, whole);
  }
  if (sample) result.candidates = run_whole(arms, problem, options);
  std::set<std::string> tried, known;  // dataflows
  for (const auto& arm : arms) {
    for (const Evaluation& e : arm->best(1)) result.candidates.push_back(e);
    if (!arm->log().empty()) tried.insert(arm->problem().schedule.text);
  }
  for (const auto& arm : arms) {
    const std::string& name = arm->problem().schedule.text;
    if (tried.insert(name).second) result.untried += (result.untried.empty() ? "" : ", ") + name;
  }
  std::erase_if(result.candidates, [&](const Evaluation& e) { return !known.insert(e.schedule.text).second; });
  return result;
}

Portfolio pick_dataflow(const Problem& problem, const TuningOptions& options) {
  std::vector<job::Schedule> all;
  const schedule::FirmwareImage& image = schedule::firmware_of(problem.machine);
  for (const firmware::Dataflow* dataflow : job::dataflows_for(problem.network, image)) {
    job::Schedule schedule = job::parse_dataflow(dataflow->name, image);
    schedule.tiling = problem.schedule.tiling;
    for (job::Schedule& variant : variants_of(schedule)) all.push_back(std::move(variant));
  }
  return choose_from(all, problem, options);
}

}  // namespace attnvp::explore
