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

struct Arm {
  std::unique_ptr<Tuner> tuner;
  bool is_going = true;
  double cost() const {
    const std::vector<Evaluation> best = tuner->best(1);
    return best.empty() ? Cost().first : best.front().cost.first;
  }
};

std::uint64_t steps_of(const MachineConfig& machine, const workload::Workload& network, const job::Schedule& schedule,
                       std::uint64_t most) {
  try {
    return schedule::count_steps(job::make_job(machine, network, schedule), burst_bytes(machine), most);
  } catch (const config::ConfigError&) {  // tiles exceed the smaller job
    return 0;
  }
}

std::uint64_t budget_of(const TuningOptions& options, std::uint64_t steps) {
  const std::uint64_t usual = kLongEvaluation * options.sample_steps;
  if (usual == 0 || steps <= usual) return options.evaluations;
  return std::min(options.evaluations, std::max(options.evaluations * usual / steps, kFewestEvaluations));
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
  Portfolio result;
  std::vector<Arm> arms;
  std::exception_ptr first_error;
  bool any_run_error = false;
  const auto leave_out = [&](const char* why) {
    if (first_error == nullptr) first_error = std::current_exception();
    if (result.left_out.find(why) == std::string::npos)
      result.left_out += (result.left_out.empty() ? "" : "; ") + std::string(why);
  };
  for (const job::Schedule& schedule : schedules) {
    try {
      arms.push_back({std::make_unique<Tuner>(Problem{machine, network, schedule, energy}, options)});
    } catch (const job::RunError& problem) {
      any_run_error = true;
      leave_out(problem.what());
    } catch (const config::ConfigError& problem) {
      leave_out(problem.what());
    }
  }
  if (arms.empty()) {
    if (schedules.size() == 1) std::rethrow_exception(first_error);
    if (any_run_error) throw job::RunError(result.left_out);
    throw config::ConfigError(result.left_out);
  }
  const job::Schedule first = arms.front().tuner->first();
  result.least_cycles = schedule::layer_demand(job::make_job(machine, network, first), machine).cycles();
  std::optional<Sample> sample;
  std::uint64_t budget = options.evaluations;
  if (options.sample_steps > 0) {
    const auto count = [&](const MachineConfig& m, const workload::Workload& n, std::uint64_t most) {
      return steps_of(m, n, first, most);
    };
    sample = sample_of(machine, network, options.sample_steps, count);
  }
  if (sample && network.gemm() != nullptr) {  // tiles must not exceed the smaller product
    for (Arm& arm : arms) {
      const workload::Gemm& small = *sample->small.gemm();
      arm.tuner =
          std::make_unique<Tuner>(arm.tuner->problem(), options, TileLimits{small.rows, small.columns, small.depth});
    }
  }
  if (options.sample_steps > 0) {
    const std::uint64_t most = kLongEvaluation * options.sample_steps * (options.evaluations / kFewestEvaluations + 1);
    const job::Schedule shortest = arms.front().tuner->first();
    budget = budget_of(options, sample ? steps_of(sample->machine, sample->large, shortest, most)
                                       : steps_of(machine, network, shortest, most));
  }
  const double enough = options.objective == Objective::kCycles ? options.enough * result.least_cycles : 0;
  const auto is_stopped = [&] { return options.is_stopped && options.is_stopped(); };
  auto evaluator = std::make_unique<Evaluator>(machine, network, energy, options.objective, sample);
  const auto cheaper = [](const Arm& a, const Arm& b) { return a.cost() < b.cost(); };
  std::size_t going = arms.size();
  for (std::uint64_t share = arms.size() == 1 ? budget : std::max<std::uint64_t>(kFirstShare, budget / 16);;
       share *= 2) {
    bool any = false;
    for (std::size_t i = 0; i < going; ++i) {
      Arm& arm = arms[i];
      const std::uint64_t done = arm.tuner->log().size();
      if (!arm.is_going || done >= budget) continue;
      arm.is_going = arm.tuner->advance(*evaluator, std::min(share, budget - done), enough);
      any = true;
      if (arm.cost() <= enough && !sample) break;  // the cost of a smaller job may be too low
    }
    std::stable_sort(arms.begin(), arms.end(), cheaper);
    if (!any || is_stopped() || arms.front().cost() <= enough) break;
    going = (going + 1) / 2;
  }
  result.is_final = !is_stopped();
  std::set<std::string> tried;
  for (const Arm& arm : arms) {
    if (!arm.tuner->log().empty()) tried.insert(arm.tuner->problem().schedule.text);
  }
  for (const Arm& arm : arms) {
    const std::string& name = arm.tuner->problem().schedule.text;
    if (tried.insert(name).second) result.untried += (result.untried.empty() ? "" : ", ") + name;
    for (const Evaluation& e : arm.tuner->best(1)) {
      result.candidates.push_back({e.schedule, e.cycles, !evaluator->is_partial(), e.cost.first});
    }
  }
  if (result.candidates.empty() && evaluator->is_partial()) {  // all tiles exceed the smaller job
    evaluator.reset();
    TuningOptions whole = options;
    whole.sample_steps = 0;
    return choose_from(schedules, machine, network, energy, whole);
  }
  if (result.candidates.empty()) {  // the final run reports the reason
    result.is_final = false;
    result.candidates.push_back({first, 0, false, 0});
    return result;
  }
  if (!evaluator->is_partial()) return result;
  // Full-fidelity runs decide among the best candidates of the best dataflow and of the next ones.
  std::vector<Evaluation> few = arms.front().tuner->best(arms.size() == 1 ? kWholeRuns : 2);
  for (std::size_t i = 1; i < arms.size() && few.size() < kWholeRuns + 1; ++i) {
    for (const Evaluation& e : arms[i].tuner->best(1)) few.push_back(e);
  }
  if (few.size() == 1 || steps_of(machine, network, few.front().schedule, kMostWhole) >= kMostWhole) return result;
  evaluator = std::make_unique<Evaluator>(machine, network, energy, options.objective, std::nullopt);
  std::vector<Evaluation> runs;
  for (const Evaluation& e : few) {
    const Evaluation& run = evaluator->evaluate(e.schedule);
    if (run.cost.first < Cost().first) runs.push_back(run);
  }
  sort_by_cost(runs, options.equal);
  std::vector<Candidate> whole;
  for (const Evaluation& run : runs) whole.push_back({run.schedule, run.cycles, true, run.cost.first});
  const auto is_known = [&](const Candidate& c) {
    return std::any_of(whole.begin(), whole.end(),
                       [&](const Candidate& w) { return w.schedule.text == c.schedule.text; });
  };
  std::vector<Candidate> rest;
  std::set<std::string> seen;
  for (const Candidate& c : whole) {
    if (schedules.size() == 1 || seen.insert(c.schedule.text).second) rest.push_back(c);
  }
  for (const Candidate& c : result.candidates) {
    if (!is_known(c)) rest.push_back(c);
  }
  result.candidates = std::move(rest);
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
  std::set<std::string> said{best().schedule.text};  // names only the best of several variants of a dataflow
  for (const Candidate& c : candidates) {
    if (!said.insert(c.schedule.text).second) continue;
    std::string& list = c.is_whole == best().is_whole ? beaten : extrapolated;
    list +=
        fmt::format("{}{} by {:.1f}%", list.empty() ? "" : ", ", c.schedule.text, 100 * (c.cycles / best().cycles - 1));
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
