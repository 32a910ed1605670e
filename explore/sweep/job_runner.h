// Runs a plan's jobs in this process, one machine elaborated once for all its jobs that follow each other.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "explore/sweep/plan.h"
#include "explore/sweep/worker.h"

namespace attnvp::explore {

class JobRunner {
 public:
  explicit JobRunner(const Plan& plan) : plan_(plan) {}
  // Never throws: a job's failure is an outcome.
  Outcome run(std::uint32_t job);

 private:
  std::string simulate(const Job& job);
  const config::EnergyTable& energy(const std::string& name);

  const Plan& plan_;
  std::unique_ptr<job::Runner> runner_;  // of machine_; none after a failure
  std::uint32_t machine_ = 0;
  std::map<std::string, config::EnergyTable> energies_;
};

}  // namespace attnvp::explore
