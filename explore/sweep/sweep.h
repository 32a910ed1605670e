// Sweep runner: executes the jobs of a plan that a database lacks, in child processes.
//
// A sweep file has axes, from which a plan (plan.h) creates jobs. Worker processes or the shards of a Slurm array run
// them. Rows are stored in a database (database.h), and the databases of shards are merged.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "explore/sweep/database.h"
#include "explore/sweep/plan.h"
#include "explore/tuning/tuner.h"

namespace attnvp::explore {

// Worker processes for jobs. SystemC supports one simulation per process, and a crash affects only one job.

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

struct FailureGroup {
  std::uint64_t jobs = 0;
  std::string example;  // alphabetically first sentence
};

// Groups failure sentences that differ only in numbers or in the job's prefix ("NETWORK on MACHINE with DATAFLOW:
// ..."), sorted by frequency.
std::vector<FailureGroup> failure_groups(const std::vector<std::string>& sentences);

struct SweepProgress {
  std::uint64_t jobs = 0;                           // of this shard
  std::uint64_t skipped = 0;                        // done by an earlier run
  std::uint64_t done = 0, failed = 0, crashed = 0;  // in this run
  std::vector<std::string> failures;                // reasons of failures, including earlier runs
  std::uint64_t left() const { return jobs - skipped - done - failed - crashed; }
};

struct SweepOptions {
  std::string database;
  unsigned jobs = 1;                    // processes
  std::uint32_t shard = 1, shards = 1;  // index and number of shards
  bool retry = false;                   // repeats failed jobs
  std::function<void(const SweepProgress&)> progress;
  std::function<bool()> stop;  // polled; true ends the sweep and keeps all results so far
};

// Throws ConfigError if the database is not usable; committed rows are kept.
SweepProgress run_sweep(const SweepPlan& plan, const SweepOptions& options);

// Returns the same counts without running jobs.
SweepProgress sweep_status(const SweepPlan& plan, const SweepOptions& options);

// Row of a job: a pure function, independent of host and time.
SqlRow row_of(const SweepPlan& plan, const SweepJob& job, const Outcome& outcome);

struct MergeResult {
  std::uint64_t rows = 0;   // in the destination afterwards
  std::uint64_t added = 0;  // rows new to the destination
  std::uint64_t equal = 0;  // rows already present
};
// Merges databases into a new or existing one, atomically. A crashed row is replaced by one that is not. Throws
// ConfigError: not readable, other simulator, different rows for one job, or different sweeps unless `any_sweeps`.
MergeResult merge_databases(const std::string& destination, const std::vector<std::string>& sources,
                            bool any_sweeps = false);

// Slurm submission of a sweep: a job array with one task per shard, and a dependent job that merges the results.

struct SlurmJob {
  std::string program;  // absolute path of attnvp
  std::string sweep;    // sweep argument of attnvp sweep; paths are absolute
  std::string name;
  std::string database;  // absolute path of the merged database
  std::uint32_t shards = 1;
  std::uint32_t processes = 1;       // per task
  std::vector<std::string> options;  // for sbatch, used for both jobs

  std::string folder() const;  // scripts, logs and the shards' databases
  std::string array_script() const;
  std::string merge_script() const;
};

// Writes both scripts into the folder and creates it. Throws ConfigError if that fails.
void write_slurm_scripts(const SlurmJob& job);

struct SlurmIds {
  std::string array, merge;
};
// Submits both jobs. Throws ConfigError if sbatch is missing or fails.
SlurmIds submit_to_slurm(const SlurmJob& job);

}  // namespace attnvp::explore
