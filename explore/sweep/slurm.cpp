#include "explore/sweep/slurm.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>

#include "platform/base/files.h"
#include "platform/base/origin.h"
#include "platform/machine/error.h"
#include "platform/machine/words.h"

namespace attnvp::explore {

namespace {

namespace fs = std::filesystem;
using config::ConfigError;

std::string shard_file(const SlurmJob& job, const std::string& number) {
  return fmt::format("{}/shard-{}-of-{}.db", job.folder(), number, job.shards);
}

std::string header(const SlurmJob& job, const char* what, const std::string& log) {
  std::string text = fmt::format("#!/bin/bash\n#SBATCH --job-name=attnvp-{}-{}\n#SBATCH --output={}/{}\n", job.name,
                                 what, job.folder(), log);
  for (const std::string& option : job.options) text += "#SBATCH " + option + "\n";
  return text;
}

// Runs a command and returns its output; errors include the output.
std::string output_of(const std::string& command) {
  std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) throw ConfigError("no shell to run sbatch with");
  std::string text;
  std::array<char, 512> buffer{};
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe)) text.append(buffer.data(), n);
  const int status = ::pclose(pipe);
  const std::string shown(config::trimmed(text));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
    throw ConfigError("--slurm: sbatch is not on PATH; --no-submit only writes the scripts");
  }
  if (status != 0) throw ConfigError(fmt::format("--slurm: sbatch: {}", config::in_quotes(shown)));
  return shown.substr(0, shown.find(';'));  // "ID;cluster"
}

}  // namespace

std::string SlurmJob::folder() const { return fs::path(database).replace_extension("slurm").string(); }

std::string SlurmJob::array_script() const {
  return header(*this, "shard", "shard-%a.log") +
         fmt::format(
             "#SBATCH --array=1-{0}\n#SBATCH --cpus-per-task={1}\n\nk=$SLURM_ARRAY_TASK_ID\n"
             "exec {2} sweep {3} --shard \"$k/{0}\" --jobs {1} --db {4}/shard-\"$k\"-of-{0}.db\n",
             shards, processes, text::shell_word(program), text::shell_word(sweep), text::shell_word(folder()));
}

std::string SlurmJob::merge_script() const {
  std::string text = header(*this, "merge", "merge.log") + "\nset -e\n";
  text += fmt::format("{} merge {}", text::shell_word(program), text::shell_word(database));
  for (std::uint32_t k = 1; k <= shards; ++k)
    text += " \\\n  " + text::shell_word(shard_file(*this, std::to_string(k)));
  return text + fmt::format("\n{} sweep {} --db {} --status\n", text::shell_word(program), text::shell_word(sweep),
                            text::shell_word(database));
}

void write_slurm_scripts(const SlurmJob& job) {
  std::error_code error;
  fs::create_directories(job.folder(), error);
  if (error) throw ConfigError(fmt::format("{}: cannot be made: {}", job.folder(), error.message()));
  files::write_file_atomically(job.folder() + "/array.sh", job.array_script());
  files::write_file_atomically(job.folder() + "/merge.sh", job.merge_script());
}

SlurmIds submit_to_slurm(const SlurmJob& job) {
  SlurmIds ids;
  ids.array = output_of("sbatch --parsable " + text::shell_word(job.folder() + "/array.sh"));
  // afterany: the merge job reports failed shards instead of waiting for them.
  ids.merge = output_of(fmt::format("sbatch --parsable --dependency=afterany:{} {}", ids.array,
                                    text::shell_word(job.folder() + "/merge.sh")));
  return ids;
}

}  // namespace attnvp::explore
