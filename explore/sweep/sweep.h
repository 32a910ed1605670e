// Sweeps: many jobs from a file, in processes of their own, their results in a database. A file (sweep_file.h) has axes
// (axis.h), of which a plan (plan.h) makes jobs; a pool (worker.h) runs them, or shards of a Slurm array (slurm.h);
// rows (columns.h) go into a database (database.h), and databases of shards into one. Here is what runs the jobs that a
// plan has and a database has not.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "explore/sweep/database.h"
#include "explore/sweep/plan.h"
#include "explore/sweep/worker.h"

namespace attnvp::explore {

struct Cause {
  std::uint64_t jobs = 0;
  std::string example;  // the first of its sentences in alphabetical order
};

// Sentences that differ only in their numbers, or in whose job it was ("NETWORK on MACHINE with DATAFLOW: ..."), have
// one cause. Most frequent first.
std::vector<Cause> causes_of(const std::vector<std::string>& sentences);

struct SweepProgress {
  std::uint64_t jobs = 0;                           // of this share
  std::uint64_t skipped = 0;                        // done by an earlier run
  std::uint64_t done = 0, failed = 0, crashed = 0;  // now
  std::vector<std::string> failures;                // why jobs did not end well, those of earlier runs as well
  std::uint64_t left() const { return jobs - skipped - done - failed - crashed; }
};

struct SweepOptions {
  std::string database;
  unsigned jobs = 1;                    // processes
  std::uint32_t shard = 1, shards = 1;  // this share of how many
  bool retry = false;                   // jobs that failed are run again
  std::function<void(const SweepProgress&)> progress;
  std::function<bool()> stop;  // asked again and again; true ends the sweep, with all results so far kept
};

// Throws ConfigError when the database cannot be used or written; what was committed before stays.
SweepProgress run_sweep(const Plan& plan, const SweepOptions& options);

// The same count without running anything.
SweepProgress sweep_status(const Plan& plan, const SweepOptions& options);

// A job's row; pure, so that it is the same wherever and whenever the job ran.
Row row_of(const Plan& plan, const Job& job, const Outcome& outcome);

struct MergeResult {
  std::uint64_t rows = 0;   // in the destination, after
  std::uint64_t added = 0;  // that it did not have
  std::uint64_t equal = 0;  // that were there already
};
// Joins databases into one, which may exist. All or nothing. A crashed row gives way to one that is not. Throws
// ConfigError: not readable, of another simulator, two different rows for one job, or, unless `any_sweeps`, of
// different sweeps.
MergeResult merge_databases(const std::string& destination, const std::vector<std::string>& sources,
                            bool any_sweeps = false);

}  // namespace attnvp::explore
