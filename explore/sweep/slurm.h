// A sweep as a Slurm job array, one task a shard, and a job that merges when the array has ended.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attnvp::explore {

struct SlurmJob {
  std::string program;  // attnvp, absolute
  std::string sweep;    // as given to attnvp sweep; absolute where it is a path
  std::string name;
  std::string database;  // absolute; gets everything
  std::uint32_t shards = 1;
  std::uint32_t processes = 1;       // of a task
  std::vector<std::string> options;  // for sbatch, both jobs

  std::string folder() const;  // scripts, logs and the shards' databases
  std::string array_script() const;
  std::string merge_script() const;
};

// Writes both scripts into the folder, which is made. Throws ConfigError when that cannot be.
void write_slurm_scripts(const SlurmJob& job);

struct SlurmIds {
  std::string array, merge;
};
// Submits both. Throws ConfigError: no sbatch, or what sbatch complains of.
SlurmIds submit_to_slurm(const SlurmJob& job);

}  // namespace attnvp::explore
