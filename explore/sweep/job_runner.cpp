#include "explore/sweep/job_runner.h"

#include <new>

#include "explore/sweep/columns.h"
#include "explore/tuning/tuner.h"
#include "platform/config/energy.h"
#include "platform/report/report.h"

namespace attnvp::explore {

namespace {
constexpr std::uint64_t kTensorSeed = 1;  // as `attnvp run` has it
}

const config::EnergyTable& JobRunner::energy(const std::string& name) {
  const auto known = energies_.find(name);
  return known != energies_.end() ? known->second : energies_.emplace(name, config::load_energy(name)).first->second;
}

std::string JobRunner::simulate(const Job& job) {
  const PlannedMachine& machine = plan_.machines[job.machine];
  if (!machine.problem.empty()) throw config::ConfigError(machine.problem);
  const PlannedSchedule& planned = plan_.schedules[job.schedule];
  const config::Network& network = plan_.networks[job.network];
  job::Schedule schedule = planned.schedule;
  TuningOptions options;
  if (planned.searched) options.search_longer();
  schedule = tune(machine.config, network, schedule, energy(machine.config.energy), options);
  if (runner_ == nullptr || machine_ != job.machine) {
    runner_.reset();
    runner_ = std::make_unique<job::Runner>(machine.config, energy(machine.config.energy), plan_.full);
    machine_ = job.machine;
  }
  if (!plan_.full) return report::to_json(runner_->run(network, schedule, nullptr, {}), machine.config.name);
  const job::Tensors tensors = job::random_tensors(network, kTensorSeed);
  const job::Result result = runner_->run(network, schedule, &tensors, {});
  if (!result.golden.passed) throw job::RunError("golden check failed: " + result.golden.to_string());
  return report::to_json(result, machine.config.name);
}

Outcome JobRunner::run(std::uint32_t job) {
  try {
    return {kDone, simulate(plan_.jobs[job])};
  } catch (const host_memory::Exceeded& problem) {
    runner_.reset();
    return {kCrashed, problem.what()};
  } catch (const std::bad_alloc&) {
    runner_.reset();
    return {kCrashed, "this host has not enough memory for that layer or machine"};
  } catch (const config::ConfigError& problem) {
    runner_.reset();
    return {kFailed, problem.what()};
  } catch (const job::RunError& problem) {
    runner_.reset();
    return {kFailed, problem.what()};
  } catch (const std::exception& problem) {
    runner_.reset();
    return {kCrashed, std::string("unexpected failure: ") + problem.what()};
  }
}

}  // namespace attnvp::explore
