// Forked processes that run jobs: SystemC has one simulation per process, and a process that dies takes one job with
// it.
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

namespace attnvp::explore {

struct Outcome {
  const char* status = "";  // kDone, kFailed, kCrashed
  std::string text;         // of a job that is done, its JSON report; else a sentence
};

class WorkerPool {
 public:
  // Forks: nothing that a child must not have (an open database) may be open yet. Throws ConfigError when it cannot.
  WorkerPool(const Plan& plan, unsigned workers);
  ~WorkerPool();  // ends those that are still at work
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Jobs (positions in the plan) in their order; a machine's jobs should follow each other.
  void add(const std::vector<std::uint32_t>& jobs) { waiting_.insert(waiting_.end(), jobs.begin(), jobs.end()); }

  // Waits for results, `milliseconds` at most, and calls `done` for each. False when no job is left. A signal ends the
  // wait.
  bool wait(int milliseconds, const std::function<void(std::uint32_t job, const Outcome& outcome)>& done);

 private:
  struct Worker {
    pid_t pid = -1;
    int commands = -1, results = -1;  // pipes
    std::deque<std::uint32_t> given;  // not answered yet; the first one is at work
    std::string received;
  };
  void start(Worker& worker);
  void end(Worker& worker);
  void feed(Worker& worker);
  using Done = std::function<void(std::uint32_t, const Outcome&)>;
  void read_results(Worker& worker, const Done& done);
  void bury(Worker& worker, const Done& done);

  const Plan& plan_;
  std::deque<std::uint32_t> waiting_;
  std::vector<Worker> workers_;
};

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
