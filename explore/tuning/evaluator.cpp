#include "explore/tuning/evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <utility>

#include "explore/processes/processes.h"
#include "platform/schedule/demand.h"

namespace attnvp::explore {

const char* name_of(Objective objective) {
  return objective == Objective::kCycles ? "cycles" : objective == Objective::kEnergy ? "energy" : "edp";
}

const char* unit_of(Objective objective) {
  return objective == Objective::kCycles ? "cycles" : objective == Objective::kEnergy ? "pJ" : "J s";
}

Cost cost_of(Objective objective, double cycles, double energy_pj, double clock_hz) {
  switch (objective) {
    case Objective::kEnergy:
      return {energy_pj, cycles};
    case Objective::kEdp:
      return {energy_pj * 1e-12 * cycles / clock_hz, cycles};
    case Objective::kCycles:
      break;
  }
  return {cycles, energy_pj};
}

Evaluator::Evaluator(const MachineConfig& machine, const workload::Workload& network, const config::EnergyTable& energy,
                     Objective objective, std::optional<Sample> sample)
    : machine_(machine), network_(network), energy_(energy), objective_(objective), sample_(std::move(sample)) {}

Evaluator::~Evaluator() = default;

std::string Evaluator::key(const job::Schedule& schedule) {
  std::string key = schedule.text;
  for (const auto& [name, value] : schedule.tiling.entries()) key += fmt::format(" {}={}", name, value);
  return key;
}

namespace {
// Runs are stopped at this factor of the limit, so that equally fast schedules finish and can be compared by energy.
constexpr double kStopped = 1.02;
}  // namespace

std::optional<Evaluator::Totals> Evaluator::run(const SimulatedJob& job, const job::Schedule& schedule, double limit) {
  if (job.runner == nullptr) job.runner = std::make_unique<job::Runner>(job.machine, energy_, false);
  job::RunOptions options;
  options.full_data = false;
  if (objective_ == Objective::kCycles && kStopped * limit < 1e18) {
    options.most_cycles = static_cast<std::uint64_t>(kStopped * limit) + 1;
  }
  ++runs_;
  try {
    const job::RunResult r = job.runner->run(job.network, schedule, nullptr, options);
    return Totals{static_cast<double>(r.cycles), r.total_energy_pj(), 0};
  } catch (const config::ConfigError&) {  // tiles exceed the smaller job
  } catch (const job::RunError&) {
    job.runner.reset();  // unusable after a failure
  }
  return std::nullopt;
}

std::optional<Evaluator::Totals> Evaluator::run_or_recall(const SimulatedJob& job, const job::Schedule& schedule,
                                                          double limit) {
  schedule::StreamDemand demand;
  try {
    const double most = objective_ == Objective::kCycles ? limit : std::numeric_limits<double>::infinity();
    demand = schedule::stream_demand(job::make_job(job.machine, job.network, schedule), job.machine, most);
  } catch (const config::ConfigError&) {  // tiles exceed the smaller job
    return std::nullopt;
  }
  if (objective_ == Objective::kCycles && demand.cycles > limit) return std::nullopt;
  const auto [known, fresh] = by_stream_.try_emplace(demand.digest);
  if (fresh) known->second = run(job, schedule, limit);
  if (known->second) known->second->demand = demand.cycles;
  return known->second;
}

std::optional<Evaluator::Totals> Evaluator::simulate(const job::Schedule& schedule, double limit) {
  if (!sample_) return run_or_recall({machine_, network_, runner_}, schedule, limit);
  const SimulatedJob of_large{sample_->machine, sample_->large, runner_};
  const SimulatedJob of_small = sample_->machine_of_small
                                    ? SimulatedJob{*sample_->machine_of_small, sample_->small, runner_of_small_}
                                    : SimulatedJob{sample_->machine, sample_->small, runner_};
  // Stops the larger sample when the estimate for the whole job exceeds the limit.
  const std::optional<Totals> large = run_or_recall(of_large, schedule, sample_->most_of_large(limit));
  if (!large || sample_->work_small == 0) return large;
  const std::optional<Totals> small = run_or_recall(of_small, schedule, std::numeric_limits<double>::infinity());
  const double times = sample_->work_all / sample_->work_large;
  if (!small) return Totals{large->cycles * times, large->energy_pj * times, 0};  // tiles exceed the small one
  return Totals{sample_->extrapolated(small->cycles, large->cycles),
                sample_->extrapolated(small->energy_pj, large->energy_pj), 0};
}

const Evaluation& Evaluator::remember(const job::Schedule& schedule, const std::optional<Totals>& totals) {
  Evaluation evaluation{schedule, {}, 0, 0, 0};
  if (totals) {
    evaluation.cycles = totals->cycles;
    evaluation.energy_pj = totals->energy_pj;
    evaluation.demand = totals->demand;
    evaluation.cost = cost_of(objective_, totals->cycles, totals->energy_pj, machine_.clock_hz);
  }
  return known_.emplace(key(schedule), std::move(evaluation)).first->second;
}

const Evaluation& Evaluator::evaluate(const job::Schedule& schedule, double limit) {
  const auto found = known_.find(key(schedule));
  const Evaluation* evaluation = found != known_.end() ? &found->second : nullptr;
  if (evaluation == nullptr) {
    const auto start = std::chrono::steady_clock::now();
    const std::optional<Totals> totals = simulate(schedule, limit);
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    evaluation = &remember(schedule, totals);
  }
  // The result does not depend on when, or with which limit, the schedule was evaluated.
  const bool is_within = evaluation->demand <= limit && evaluation->cycles <= kStopped * limit;
  if (is_within || sample_ || objective_ != Objective::kCycles) return *evaluation;
  beyond_ = {schedule, {}, 0, 0, 0};
  return beyond_;
}

void Evaluator::evaluate_ahead(const std::vector<job::Schedule>& schedules, double limit, unsigned jobs) {
  std::vector<job::Schedule> wanted;
  for (const job::Schedule& s : schedules) {
    const auto same = [&](const job::Schedule& other) { return key(other) == key(s); };
    if (!knows(s) && std::none_of(wanted.begin(), wanted.end(), same)) wanted.push_back(s);
  }
  if (jobs == 1 || wanted.size() < 2) return;
  const auto start = std::chrono::steady_clock::now();
  const auto work = [&](std::size_t i) -> std::string {
    const std::optional<Totals> totals = simulate(wanted[i], limit);
    return totals ? fmt::format("{} {} {}", totals->cycles, totals->energy_pj, totals->demand) : "none";
  };
  const std::vector<std::string> lines = in_processes(wanted.size(), jobs, work);
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::istringstream line(lines[i]);
    Totals totals;
    if (line >> totals.cycles >> totals.energy_pj >> totals.demand) {
      remember(wanted[i], totals);
    } else if (lines[i] == "none") {
      remember(wanted[i], std::nullopt);
    }  // otherwise its process died, and evaluate() finds the reason
  }
}

}  // namespace attnvp::explore
