// Slurm submission of a sweep: a job array with one task per shard, and a dependent job that merges the results.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attnvp::explore {

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
