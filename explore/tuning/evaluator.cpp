#include "explore/tuning/evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <utility>

#include "explore/processes/processes.h"

namespace attnvp::explore {

const char* name_of(Objective objective) {
  static constexpr const char* kNames[] = {"cycles", "energy", "edp"};
  return kNames[static_cast<std::size_t>(objective)];
}

const char* unit_of(Objective objective) {
  static constexpr const char* kUnits[] = {"cycles", "pJ", "J s"};
  return kUnits[static_cast<std::size_t>(objective)];
}

Cost cost_of(Objective objective, double cycles, double energy_pj, double clock_hz) {
  if (objective == Objective::kCycles) return {cycles, energy_pj};
  if (objective == Objective::kEnergy) return {energy_pj, cycles};
  return {energy_pj * 1e-12 * cycles / clock_hz, cycles};
}

namespace {

using job::RunTotals;

// Runs are stopped at this factor of the limit, so that equally fast schedules finish and can be compared by energy.
constexpr double kStopped = 1.02;

std::string key(const job::Schedule& schedule) { return schedule.text + " " + job::tiling_line(schedule.tiling); }

}  // namespace

Evaluator::Evaluator(const Problem& problem, Objective objective, const std::optional<Sample>& sample,
                     std::shared_ptr<job::SimulatedJobs> jobs)
    : objective_(objective),
      clock_hz_(problem.machine.clock_hz),
      sample_(sample),
      jobs_(jobs != nullptr ? std::move(jobs) : std::make_shared<job::SimulatedJobs>()),
      whole_(jobs_->of(sample ? sample->large.machine : problem.machine,
                       sample ? sample->large.network : problem.network, problem.energy)),
      small_(sample ? jobs_->of(sample->small.machine, sample->small.network, problem.energy) : whole_) {}

std::optional<RunTotals> Evaluator::simulate(const job::Schedule& schedule, double limit) {
  const auto start = std::chrono::steady_clock::now();
  if (objective_ != Objective::kCycles) limit = kNoLimit;
  // Stops the larger job of a sample when the estimate for the whole job exceeds the limit.
  const double most = sample_ ? sample_->most_of_large(limit) : limit;
  std::optional<RunTotals> totals = whole_.run(schedule, most, kStopped * most);
  if (totals && sample_ && sample_->work_small > 0) {
    const std::optional<RunTotals> small = small_.run(schedule, kNoLimit, kNoLimit);
    const double times = sample_->work_all / sample_->work_large;  // if the tiles exceed the small job
    const auto whole = [&](double RunTotals::*part) {
      return small ? sample_->extrapolated((*small).*part, (*totals).*part) : (*totals).*part * times;
    };
    totals = RunTotals{whole(&RunTotals::cycles), whole(&RunTotals::energy_pj), 0};
  }
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return totals;
}

Evaluation Evaluator::evaluate(const job::Schedule& schedule, double limit) {
  const auto known = ahead_.find(key(schedule));
  const std::optional<RunTotals> totals = known != ahead_.end() ? known->second : simulate(schedule, limit);
  // The result does not depend on when, or with which limit, the schedule was evaluated ahead.
  const bool is_limited = !sample_ && objective_ == Objective::kCycles;
  if (!totals || (is_limited && (totals->demand > limit || totals->cycles > kStopped * limit))) return {schedule, {}};
  return {schedule, cost_of(objective_, totals->cycles, totals->energy_pj, clock_hz_), totals->cycles,
          totals->energy_pj, !sample_};
}

void Evaluator::evaluate_ahead(const std::vector<job::Schedule>& schedules, double limit, unsigned jobs) {
  const auto start = std::chrono::steady_clock::now();
  const auto work = [&](std::size_t i) -> std::string {
    const std::optional<RunTotals> totals = simulate(schedules[i], limit);
    return totals ? fmt::format("{} {} {}", totals->cycles, totals->energy_pj, totals->demand) : "none";
  };
  const std::vector<std::string> lines = in_processes(schedules.size(), jobs, work);
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;  // its process died, and evaluate() finds the reason
    std::istringstream line(lines[i]);
    RunTotals totals;
    line >> totals.cycles >> totals.energy_pj >> totals.demand;
    ahead_[key(schedules[i])] = line ? std::optional(totals) : std::nullopt;
  }
}

}  // namespace attnvp::explore
