// Worker processes for jobs. SystemC supports one simulation per process, and a crash affects only one job.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "explore/sweep/plan.h"
#include "explore/tuning/tuner.h"

namespace attnvp::explore {

struct Outcome {
  const char* status = "";  // kDone, kFailed, kCrashed
  std::string text;         // JSON report of a successful job; otherwise a sentence
};

class WorkerPool {
 public:
  // Forks the workers, so no resource that children must not inherit (an open database) may be open. Throws
  // ConfigError.
  WorkerPool(const SweepPlan& plan, unsigned workers);
  ~WorkerPool();  // terminates busy workers
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Appends jobs (indices in the plan). Jobs of one machine should be consecutive.
  void add(const std::vector<std::uint32_t>& jobs) { waiting_.insert(waiting_.end(), jobs.begin(), jobs.end()); }

  // Waits up to `milliseconds` for results and calls `done` for each. Returns false if no job is left. A signal ends
  // the wait.
  bool wait(int milliseconds, const std::function<void(std::uint32_t job, const Outcome& outcome)>& done);

 private:
  struct PoolWorker {
    pid_t pid = -1;
    int commands = -1, results = -1;  // pipes
    std::deque<std::uint32_t> given;  // assigned jobs without result; the first one is running
    std::string received;
  };
  void start(PoolWorker& worker);
  void end(PoolWorker& worker);
  void feed(PoolWorker& worker);
  using JobCallback = std::function<void(std::uint32_t, const Outcome&)>;
  void read_results(PoolWorker& worker, const JobCallback& done);
  void bury(PoolWorker& worker, const JobCallback& done);

  const SweepPlan& plan_;
  std::deque<std::uint32_t> waiting_;
  std::vector<PoolWorker> workers_;
};

class JobRunner {
 public:
  explicit JobRunner(const SweepPlan& plan) : plan_(plan) {}
  // Never throws; failures are outcomes.
  Outcome run(std::uint32_t job);

 private:
  std::string simulate(const SweepJob& job);
  std::string simulate_layers(const SweepJob& job, const TuningOptions& options);
  const config::EnergyTable& energy(const std::string& name);

  const SweepPlan& plan_;
  std::unique_ptr<job::Runner> runner_;  // for machine_; reset after a failure
  std::uint32_t machine_ = 0;
  std::map<std::string, config::EnergyTable> energies_;
};

}  // namespace attnvp::explore
