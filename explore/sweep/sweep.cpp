#include "explore/sweep/sweep.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "platform/base/files.h"
#include "platform/base/origin.h"
#include "platform/base/text.h"
#include "platform/machine/error.h"
#include "platform/machine/hardware.h"
#include "platform/machine/words.h"

namespace attnvp::explore {

namespace {

constexpr int kLookMilliseconds = 200;
constexpr auto kCommitEvery = std::chrono::milliseconds(250);

// Remaining jobs of the shard; updates the counts in `progress`.
std::vector<std::uint32_t> left_of(const SweepPlan& plan, const SweepOptions& o, SweepProgress& progress,
                                   Database::Mode mode) {
  Database database(o.database, mode);
  database.require_this_simulator();
  if (mode == Database::Mode::kWrite) {
    database.add_axes(plan.axes);
    database.add_sweeps({{plan.identity(), plan.name}});
  }
  const std::map<std::string, std::string> finished = database.finished();
  std::vector<std::uint32_t> left;
  for (const std::uint32_t job : share_of(plan, o.shard, o.shards)) {
    ++progress.jobs;
    const auto known = finished.find(plan.jobs[job].key);
    if (known == finished.end() || (o.retry && !known->second.empty())) {
      left.push_back(job);
      continue;
    }
    ++progress.skipped;
    if (!known->second.empty()) progress.failures.push_back(known->second);
  }
  return left;
}

}  // namespace

SweepProgress run_sweep(const SweepPlan& plan, const SweepOptions& o) {
  SweepProgress progress;
  const NoEmptyDatabase guard(o.database);
  const std::vector<std::uint32_t> left = left_of(plan, o, progress, Database::Mode::kWrite);
  if (left.empty()) return progress;

  WorkerPool pool(plan, static_cast<unsigned>(std::min<std::size_t>(o.jobs, left.size())));
  pool.add(left);
  Database database(o.database, Database::Mode::kWrite);  // opened after the fork, so that workers do not inherit it
  bool open = false;
  std::chrono::steady_clock::time_point committed = std::chrono::steady_clock::now();
  const auto commit = [&] {
    if (open) database.commit();
    open = false;
    committed = std::chrono::steady_clock::now();
  };
  const auto store = [&](std::uint32_t job, const Outcome& outcome) {
    if (!open) database.begin();
    open = true;
    database.store(row_of(plan, plan.jobs[job], outcome));
    ++(outcome.status == std::string(kDone)     ? progress.done
       : outcome.status == std::string(kFailed) ? progress.failed
                                                : progress.crashed);
    if (outcome.status != std::string(kDone)) progress.failures.push_back(text::printable(outcome.text));
  };
  while (!(o.stop && o.stop()) && pool.wait(kLookMilliseconds, store)) {
    if (std::chrono::steady_clock::now() - committed > kCommitEvery) commit();
    if (o.progress) o.progress(progress);
  }
  commit();
  return progress;
}

SweepProgress sweep_status(const SweepPlan& plan, const SweepOptions& o) {
  SweepProgress progress;
  left_of(plan, o, progress, Database::Mode::kRead);
  return progress;
}

namespace {

std::string kind_of(const std::string& sentence) {
  const std::size_t colon = sentence.find(": ");
  const bool names_job = colon != std::string::npos && sentence.find(" with ") < colon;
  std::string kind;
  for (std::size_t i = names_job ? colon + 2 : 0; i < sentence.size(); ++i) {
    const bool digit = std::isdigit(static_cast<unsigned char>(sentence[i])) != 0;
    if (!digit) kind += sentence[i];
    if (digit && (kind.empty() || kind.back() != '#')) kind += '#';
  }
  return kind;
}

}  // namespace

std::vector<FailureGroup> failure_groups(const std::vector<std::string>& sentences) {
  std::map<std::string, FailureGroup> kinds;
  for (const std::string& sentence : sentences) {
    FailureGroup& cause = kinds[kind_of(sentence)];
    if (cause.jobs++ == 0 || sentence < cause.example) cause.example = sentence;
  }
  std::vector<FailureGroup> causes;
  for (auto& [kind, cause] : kinds) causes.push_back(std::move(cause));
  std::stable_sort(causes.begin(), causes.end(),
                   [](const FailureGroup& a, const FailureGroup& b) { return a.jobs > b.jobs; });
  return causes;
}

namespace {

std::string names_of(const std::map<std::string, std::string>& sweeps) {
  std::string names;
  for (const auto& [identity, name] : sweeps) names += (names.empty() ? "" : ", ") + name;
  return names;
}

}  // namespace

MergeResult merge_databases(const std::string& destination, const std::vector<std::string>& sources, bool any_sweeps) {
  const std::size_t key = column_index("key");
  const std::size_t status = column_index("status");
  const auto crashed = [&](const SqlRow& row) { return std::get<std::string>(row[status]) == kCrashed; };
  // Reads all sources before writing, so that a missing one does not leave a partial result.
  std::unordered_map<std::string, std::pair<SqlRow, const std::string*>> joined;  // row and source file
  std::string simulator;
  std::vector<std::string> axes;
  std::map<std::string, std::string> sweeps;
  const auto join = [&](const std::string& path, Database& database) {
    if (!simulator.empty() && database.simulator() != simulator) {
      throw config::ConfigError(fmt::format(
          "{}: holds results of another version of the simulator ({}) than {} ({}), which would not compare", path,
          database.simulator(), sources.front(), simulator));
    }
    simulator = database.simulator();
    const auto common = [&](const auto& sweep) { return sweeps.count(sweep.first) != 0; };
    const auto& its = database.sweeps();
    if (!any_sweeps && !sweeps.empty() && !its.empty() && std::none_of(its.begin(), its.end(), common)) {
      throw config::ConfigError(
          fmt::format("{}: is of another sweep ({}) than {} ({}), or of one since changed; --different-sweeps joins "
                      "them all the same",
                      path, names_of(its), sources.front(), names_of(sweeps)));
    }
    sweeps.insert(its.begin(), its.end());
    for (const std::string& name : database.axes()) axes.push_back(name);
    for (SqlRow& row : database.rows()) {
      const std::string name = std::get<std::string>(row[key]);
      const auto [known, inserted] = joined.try_emplace(name, row, &path);
      auto& [other, origin] = known->second;
      if (inserted || crashed(row) || row == other) continue;
      if (!crashed(other)) {
        throw config::ConfigError(
            fmt::format("{} and {}: have different results for job {}; nothing was merged", *origin, path, name));
      }
      other = std::move(row);
      origin = &path;
    }
  };
  for (const std::string& path : sources) {
    Database database(path, Database::Mode::kRead);
    join(path, database);
  }
  const NoEmptyDatabase guard(destination);
  Database database(destination, Database::Mode::kWrite);
  if (database.count() == 0) database.adopt_simulator(simulator);
  MergeResult result;
  std::unordered_map<std::string, bool> before;
  for (const SqlRow& row : database.rows()) before.emplace(std::get<std::string>(row[key]), crashed(row));
  std::uint64_t offered = joined.size();
  join(destination, database);
  database.begin();
  for (const auto& [name, entry] : joined) {
    const auto had = before.find(name);
    if (had != before.end() && (!had->second || crashed(entry.first))) continue;
    database.store(entry.first);
    ++result.added;
  }
  database.add_axes(axes);
  database.add_sweeps(sweeps);
  database.commit();
  result.rows = database.count();
  result.equal = offered - result.added;
  return result;
}

namespace {

SqlValue cell(std::uint64_t value) { return static_cast<std::int64_t>(value); }

SqlValue cell(const config::KeyInfo& key, const config::Value& value) {
  if (key.type == config::Type::kReal) return std::get<double>(value);
  if (key.type == config::Type::kInteger) return cell(std::get<std::uint64_t>(value));
  return config::format_value(key, value);
}

// Number at path "a.b" of the report, in the type of its column.
SqlValue result_cell(const nlohmann::json& report, const Column& column) {
  const nlohmann::json* at = &report;
  for (std::size_t start = 0; start <= column.name.size();) {
    const std::size_t dot = std::min(column.name.find('.', start), column.name.size());
    const auto next = at->find(column.name.substr(start, dot - start));
    if (next == at->end()) return {};
    at = &*next;
    start = dot + 1;
  }
  if (at->is_null()) return {};
  if (column.is_text()) return at->is_string() ? at->get<std::string>() : at->dump();
  if (at->is_string()) return {};  // symbolic value of an unused parameter
  if (*column.sql_type == 'R') return at->get<double>();
  return at->is_boolean() ? cell(at->get<bool>() ? 1U : 0U) : cell(at->get<std::uint64_t>());
}

}  // namespace

SqlRow row_of(const SweepPlan& plan, const SweepJob& job, const Outcome& outcome) {
  const PlannedMachine& machine = plan.machines[job.machine];
  const workload::Workload& network = plan.networks[job.network];
  const PlannedSchedule& schedule = plan.schedules[job.schedule];
  SqlRow row(columns().size());
  const auto set = [&row](const char* name, SqlValue value) { row[column_index(name)] = std::move(value); };
  set("key", job.key);
  set("hardware", machine.hardware);
  for (const auto& key : config::hardware_schema().keys()) {
    if (key.path != "name") row[column_index(key.path)] = cell(key, key.get(machine.config));
  }
  set("network", plan.network_texts[job.network]);
  const workload::Extents extents = network.extents();
  set("network.batch", cell(extents.batch));
  set("network.heads", cell(extents.heads));
  set("network.seq_q", cell(extents.seq_q));
  set("network.seq_kv", cell(extents.seq_kv));
  set("network.emb", cell(extents.emb));
  set("network.kv_heads", cell(network.heads_of_kv()));
  if (network.is_ragged()) {
    set("network.contexts", fmt::format("{}", fmt::join(network.attention().contexts, "+")));
  }
  set("dataflow", schedule.schedule.text);
  set("tiling", schedule.tiling);
  set("data", plan.full ? "full" : "timing");
  set("status", outcome.status);
  set("command", plan.command(job));
  if (outcome.status != std::string(kDone)) {
    set("error", text::printable(outcome.text));
    return row;
  }
  const nlohmann::json report = nlohmann::json::parse(outcome.text);
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (columns()[i].role == ColumnRole::kResult) row[i] = result_cell(report, columns()[i]);
  }
  if (schedule.is_auto) set("chosen", report["dataflow"].get<std::string>());
  return row;
}

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
