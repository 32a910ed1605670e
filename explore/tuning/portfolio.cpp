#include "explore/tuning/portfolio.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <set>

#include "platform/machine/error.h"
#include "platform/schedule/counter.h"
#include "platform/schedule/demand.h"
#include "platform/schedule/programs.h"

namespace attnvp::explore {

namespace {

constexpr std::uint64_t kFirstShare = 8;       // minimum of initial evaluations per dataflow
constexpr std::size_t kWholeRuns = 3;          // full-fidelity runs of the best candidates
constexpr std::uint64_t kMostWhole = 300'000;  // events of a job above which no full-fidelity runs are made
// An evaluation of more than kLongEvaluation * options.sample_steps events counts as several, but at least
// kFewestEvaluations are made. Assumption: limits the time for long sequences; the effect on quality was not measured.
constexpr std::uint64_t kLongEvaluation = 4, kFewestEvaluations = 24;
constexpr std::uint64_t kMostSteps = 64;  // times options.sample_steps: how far events of a long job are counted

std::uint64_t steps_of(const MachineConfig& machine, const workload::Workload& network, const job::Schedule& schedule,
                       std::uint64_t most) {
  try {
    return schedule::count_steps(job::make_job(machine, network, schedule), burst_bytes(machine), most);
  } catch (const config::ConfigError&) {  // tiles exceed the smaller job
    return 0;
  }
}

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
      arms.push_back(
          std::make_unique<Tuner>(Problem{problem.machine, problem.network, schedule, problem.energy}, options));
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
std::vector<Candidate> run_whole(const Arms& arms, const Problem& problem, const TuningOptions& options) {
  std::vector<Evaluation> few = arms.front()->best(arms.size() == 1 ? kWholeRuns : 2), runs;
  for (std::size_t i = 1; i < arms.size() && few.size() < kWholeRuns + 1; ++i) {
    for (const Evaluation& e : arms[i]->best(1)) few.push_back(e);
  }
  const bool is_long = steps_of(problem.machine, problem.network, few.front().schedule, kMostWhole) >= kMostWhole;
  if (few.size() == 1 || is_long) return {};
  Evaluator evaluator(problem.machine, problem.network, problem.energy, options.objective, std::nullopt,
                      options.simulated);
  for (const Evaluation& e : few) {
    const Evaluation run = evaluator.evaluate(e.schedule);
    if (run.cost.first < Cost().first) runs.push_back(run);
  }
  sort_by_cost(runs, options.equal);
  std::vector<Candidate> all;
  for (const Evaluation& run : runs) all.push_back({run.schedule, run.cycles, true});
  return all;
}

}  // namespace

bool has_open_parameters(const job::Schedule& schedule) {
  const firmware::Dataflow& dataflow = schedule.declaration();
  const std::vector<std::uint32_t> words = job::words_of(schedule.tiling, dataflow);
  return std::count(words.begin(), words.end(), 0U) > 0;
}

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

Portfolio choose_from(const std::vector<job::Schedule>& schedules, const MachineConfig& machine,
                      const workload::Workload& network, const config::EnergyTable& energy,
                      const TuningOptions& options) {
  const Problem problem{machine, network, {}, energy};
  Arms arms = arms_of(schedules, problem, options);
  Portfolio result;
  const job::Schedule first = arms.front()->first();
  result.least_cycles = schedule::layer_demand(job::make_job(machine, network, first), machine).cycles();
  std::optional<Sample> sample;
  std::uint64_t budget = options.evaluations;
  if (options.sample_steps > 0) {
    sample =
        sample_of(machine, network, options.sample_steps, [&](const MachineConfig& m, const workload::Workload& n) {
          return steps_of(m, n, first, kMostSteps * options.sample_steps);
        });
    if (sample && network.gemm() != nullptr) {  // tiles must not exceed the smaller product
      for (auto& arm : arms) arm = std::make_unique<Tuner>(arm->problem(), options, sample->small.gemm());
    }
    const std::uint64_t usual = kLongEvaluation * options.sample_steps,
                        most = usual * (budget / kFewestEvaluations + 1);
    const job::Schedule shortest = arms.front()->first();
    const std::uint64_t steps =
        sample ? steps_of(sample->machine, sample->large, shortest, most) : steps_of(machine, network, shortest, most);
    if (steps > usual) budget = std::min(budget, std::max(budget * usual / steps, kFewestEvaluations));
  }
  const double enough = options.objective == Objective::kCycles ? options.enough * result.least_cycles : 0;
  {
    Evaluator evaluator(machine, network, energy, options.objective, sample, options.simulated);
    halve(arms, evaluator, budget, enough, options);
  }
  result.is_final = !options.must_stop();
  if (arms.front()->best(1).empty()) {
    if (sample) {  // all tiles exceed the smaller job
      TuningOptions whole = options;
      whole.sample_steps = 0;
      return choose_from(schedules, machine, network, energy, whole);
    }
    return {{{first, 0, false}}, result.least_cycles, {}, false};  // the final run reports the reason
  }
  if (sample) result.candidates = run_whole(arms, problem, options);
  std::set<std::string> tried, known;  // dataflows
  for (const auto& arm : arms) {
    for (const Evaluation& e : arm->best(1)) result.candidates.push_back({e.schedule, e.cycles, !sample});
    if (!arm->log().empty()) tried.insert(arm->problem().schedule.text);
  }
  for (const auto& arm : arms) {
    const std::string& name = arm->problem().schedule.text;
    if (tried.insert(name).second) result.untried += (result.untried.empty() ? "" : ", ") + name;
  }
  const auto is_known = [&](const Candidate& c) { return !known.insert(c.schedule.text).second; };
  result.candidates.erase(std::remove_if(result.candidates.begin(), result.candidates.end(), is_known),
                          result.candidates.end());
  return result;
}

Portfolio pick_dataflow(const MachineConfig& machine, const workload::Workload& network, const job::Tiling& tiling,
                        const config::EnergyTable& energy, const TuningOptions& options) {
  std::vector<job::Schedule> all;
  const schedule::FirmwareImage& image = schedule::firmware_of(machine);
  for (const firmware::Dataflow* dataflow : job::dataflows_for(network, image)) {
    job::Schedule schedule = job::parse_dataflow(dataflow->name, image);
    schedule.tiling = tiling;
    for (job::Schedule& variant : variants_of(schedule)) all.push_back(std::move(variant));
  }
  return choose_from(all, machine, network, energy, options);
}

std::string Portfolio::sentence() const {
  std::string beaten, extrapolated;
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    const Candidate& c = candidates[i];
    std::string& list = c.is_whole == best().is_whole ? beaten : extrapolated;
    const double gain = 100 * (c.cycles / best().cycles - 1);
    list += fmt::format("{}{} by {:.1f}%", list.empty() ? "" : ", ", c.schedule.text, gain);
  }
  std::string text = best().schedule.text;
  if (!beaten.empty()) text += " beats " + beaten;
  if (!extrapolated.empty()) {
    text += fmt::format("{} by smaller jobs of the same kind {}", beaten.empty() ? " beats" : ", and", extrapolated);
  }
  if (beaten.empty() && extrapolated.empty() && untried.empty()) text += " alone takes the job";
  if (!untried.empty()) text += fmt::format("; not tried, as that is near the bound: {}", untried);
  return fmt::format("{}; no schedule of this layer takes less than {:.1f}% of its time", text,
                     100 * least_cycles / best().cycles);
}

}  // namespace attnvp::explore
