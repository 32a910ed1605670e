#include "explore/tuning/evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <utility>

#include "explore/processes/processes.h"
#include "platform/machine/hardware.h"
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

namespace {
// Runs are stopped at this factor of the limit, so that equally fast schedules finish and can be compared by energy.
constexpr double kStopped = 1.02;
// A run of fewer commands for each cluster is not stopped: elaborating the platform again takes about as long as
// simulating them (estimated on `edge`). The constant changes the time of a search, not its result.
constexpr std::uint64_t kFewCommands = 1000;

std::string key(const job::Schedule& schedule) { return schedule.text + " " + job::tiling_line(schedule.tiling); }
}  // namespace

std::optional<RunTotals> SimulatedJob::run(const job::Schedule& schedule, double limit) {
  const double stop = kStopped * limit;
  try {
    const schedule::StreamDemand demand =
        schedule::stream_demand(job::make_job(machine_, network_, schedule), machine_, limit);
    if (demand.cycles > limit) return std::nullopt;
    KnownRun& known = by_stream_[demand.digest];
    if (!known.totals && known.limit < stop) {
      known.limit = stop;
      if (runner_ == nullptr) runner_ = std::make_unique<job::Runner>(machine_, energy_, false);
      job::RunOptions options;
      options.full_data = false;
      const bool is_short = demand.commands <= kFewCommands * machine_.clusters;
      if (!is_short && stop < 1e18) options.most_cycles = static_cast<std::uint64_t>(stop) + 1;
      const job::RunResult r = runner_->run(network_, schedule, nullptr, options);
      known.totals = {static_cast<double>(r.cycles), r.total_energy_pj(), demand.cycles};
    }
    // A run that exceeds the limit may have ended. The result does not depend on that, nor on earlier runs.
    if (known.totals && known.totals->cycles <= stop) return known.totals;
  } catch (const config::ConfigError&) {  // tiles exceed the smaller job
  } catch (const job::RunError&) {
    runner_.reset();  // unusable after a failure
  }
  return std::nullopt;
}

SimulatedJob& SimulatedJobs::of(const MachineConfig& machine, const workload::Workload& network,
                                const config::EnergyTable& energy) {
  const std::string on = energy.source() + config::to_yaml(machine);
  return jobs_.try_emplace(on + network.identity(), machine, network, energy, runners_[on]).first->second;
}

Evaluator::Evaluator(const MachineConfig& machine, const workload::Workload& network, const config::EnergyTable& energy,
                     Objective objective, const std::optional<Sample>& sample, std::shared_ptr<SimulatedJobs> jobs)
    : objective_(objective),
      clock_hz_(machine.clock_hz),
      sample_(sample),
      jobs_(jobs != nullptr ? std::move(jobs) : std::make_shared<SimulatedJobs>()),
      whole_(jobs_->of(sample ? sample->machine : machine, sample ? sample->large : network, energy)),
      small_(sample ? jobs_->of(sample->machine_of_small, sample->small, energy) : whole_) {}

std::optional<RunTotals> Evaluator::simulate(const job::Schedule& schedule, double limit) {
  const auto start = std::chrono::steady_clock::now();
  if (objective_ != Objective::kCycles) limit = kNoLimit;
  // Stops the larger job of a sample when the estimate for the whole job exceeds the limit.
  std::optional<RunTotals> totals = whole_.run(schedule, sample_ ? sample_->most_of_large(limit) : limit);
  if (totals && sample_ && sample_->work_small > 0) {
    const std::optional<RunTotals> small = small_.run(schedule, kNoLimit);
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
          totals->energy_pj};
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
    std::istringstream line(lines[i]);
    RunTotals totals;
    if (line >> totals.cycles >> totals.energy_pj >> totals.demand) {
      ahead_[key(schedules[i])] = totals;
    } else if (lines[i] == "none") {
      ahead_[key(schedules[i])] = std::nullopt;
    }  // otherwise its process died, and evaluate() finds the reason
  }
}

}  // namespace attnvp::explore
