// Sweep runner: executes the jobs of a plan that a database lacks, in child processes.
//
// A sweep file (sweep_file.h) has axes (axis.h), from which a plan (plan.h) creates jobs. A worker pool (worker.h) or
// the shards of a Slurm array (slurm.h) run them. Rows (columns.h) are stored in a database (database.h), and the
// databases of shards are merged.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "explore/sweep/database.h"
#include "explore/sweep/plan.h"
#include "explore/sweep/worker.h"

namespace attnvp::explore {

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

}  // namespace attnvp::explore
