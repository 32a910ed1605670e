// `attnvp sweep`: runs many jobs from a file.
#include "explore/sweep/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <thread>

#include "cli/commands.h"
#include "cli/shared/options.h"
#include "cli/shared/progress.h"
#include "platform/base/origin.h"
#include "platform/base/text.h"
#include "platform/machine/catalog.h"
#include "platform/machine/words.h"
#include "platform/report/table.h"

namespace attnvp::cli {

namespace {

namespace fs = std::filesystem;
using config::ConfigError;

constexpr std::size_t kMostCauses = 12;
constexpr std::uint64_t kMostProcesses = 1024;
constexpr std::uint64_t kMostShards = 10000;

struct SweepArguments {
  std::string sweep;          // a name under configs/sweeps or a path
  std::string database;       // default: SWEEP.db, SWEEP.K-of-N.db for a shard
  std::uint64_t jobs = 0;     // processes; 0: one for each host processor
  std::string shard = "1/1";  // shard number / number of shards
  bool dry_run = false;       // only print the plan
  bool retry = false;         // also run jobs that failed earlier
  bool status = false;        // print the remaining jobs; exit status 1 if there are any
  bool slurm = false;         // write and submit an array job and a merge job
  bool submit = true;
  std::uint64_t shards = 4;                // number of array tasks
  std::vector<std::string> slurm_options;  // for sbatch, "--time=1:00:00"
};

struct SweepShare {
  std::uint32_t k = 1, n = 1;
};

SweepShare parse_share(const std::string& text) {
  unsigned k = 0, n = 0;
  int end = 0;
  const bool two = std::sscanf(text.c_str(), "%5u/%5u%n", &k, &n, &end) == 2 && text.size() == std::size_t(end);
  if (!two || k < 1 || k > n || n > kMostShards) {
    throw ConfigError(
        fmt::format("--shard: found {}; allowed is k/n with 1 <= k <= n <= {}", config::in_quotes(text), kMostShards));
  }
  return {k, n};
}

int submit(const SweepArguments& a, const explore::SweepFile& sweep, const std::string& database) {
  explore::SlurmJob job;
  job.program = fs::read_symlink("/proc/self/exe").string();
  job.sweep = config::is_path(a.sweep) ? fs::absolute(a.sweep).lexically_normal().string() : a.sweep;
  job.name = sweep.name;
  job.database = fs::absolute(database).lexically_normal().string();
  job.shards = static_cast<std::uint32_t>(a.shards);
  job.processes = static_cast<std::uint32_t>(std::max<std::uint64_t>(a.jobs, 1));
  job.options = a.slurm_options;
  explore::write_slurm_scripts(job);
  print(fmt::format("scripts      {}\n", config::shown_path(job.folder())));
  if (!a.submit) return 0;
  const explore::SlurmIds ids = explore::submit_to_slurm(job);
  print(fmt::format("array        job {} of {}\nmerge        job {}, into {}\n", ids.array,
                    report::counted(job.shards, "shard"), ids.merge, config::shown_path(job.database)));
  return 0;
}

std::string to_text(const explore::SweepFile& sweep, const explore::SweepPlan& plan, const explore::SweepProgress& p,
                    const std::string& database) {
  std::string out;
  const auto line = [&out](const char* name, const std::string& value) {
    out += fmt::format("{:<13}{}\n", name, value);
  };
  line("sweep", text::printable(sweep.name));
  line(
      "jobs",
      fmt::format("{} on {}{}", report::with_commas(p.jobs), report::counted(plan.machines.size(), "machine"),
                  plan.excluded > 0 ? fmt::format("; constraints refuse {}", report::with_commas(plan.excluded)) : ""));
  if (p.skipped > 0) line("done before", report::with_commas(p.skipped));
  if (p.done > 0) line("done", report::with_commas(p.done));
  if (p.failed > 0)
    line("failed", fmt::format("{}; each says why in its row's 'error'", report::with_commas(p.failed)));
  const std::vector<explore::FailureGroup> causes = explore::failure_groups(p.failures);
  const std::size_t shown = std::min(causes.size(), kMostCauses);
  for (std::size_t i = 0; i < shown; ++i) {
    line(i == 0 ? "causes" : "", fmt::format("{} x {}", report::with_commas(causes[i].jobs), causes[i].example));
  }
  if (shown < causes.size()) line("", fmt::format("and {} more", causes.size() - shown));
  if (p.crashed > 0) line("crashed", fmt::format("{}; tried anew by the next run", report::with_commas(p.crashed)));
  if (p.left() > 0) line("left", report::with_commas(p.left()));
  line("database", text::printable(database));
  return out;
}

// Exit status 1 also if a job failed or crashed, now or earlier; 130 after Ctrl-C.
int sweep(const SweepArguments& a) {
  text::set_command({});  // rows contain the command of their job
  const explore::SweepFile file = explore::load_sweep(a.sweep);
  const SweepShare share = parse_share(a.shard);
  const std::string database = !a.database.empty() ? a.database
                               : share.n == 1      ? file.name + ".db"
                                                   : fmt::format("{}.{}-of-{}.db", file.name, share.k, share.n);
  if (a.slurm) {
    explore::make_plan(file);  // reports errors in the file before jobs start
    return submit(a, file, database);
  }
  const explore::SweepPlan plan = explore::make_plan(file);
  explore::SweepOptions options;
  options.database = database;
  options.jobs = static_cast<unsigned>(a.jobs > 0 ? a.jobs : std::max(1U, std::thread::hardware_concurrency()));
  options.shard = share.k;
  options.shards = share.n;
  options.retry = a.retry;
  explore::SweepProgress progress;
  if (a.dry_run) {
    progress.jobs = explore::share_of(plan, share.k, share.n).size();
    print(to_text(file, plan, progress, database));
    return 0;
  }
  if (a.status) {
    progress = explore::sweep_status(plan, options);
    print(to_text(file, plan, progress, database));
    return progress.left() > 0 ? 1 : 0;
  }
  const Interruption interruption;
  std::signal(SIGXFSZ, SIG_IGN);  // reaching a file size limit is an error like a full disk
  options.stop = Interruption::happened;
  const auto start = std::chrono::steady_clock::now();
  {
    ProgressBar bar;
    options.progress = [&](const explore::SweepProgress& p) {
      bar.update(p.jobs - p.left(), p.jobs, p.failed > 0 ? fmt::format("{} failed", p.failed) : "", p.skipped);
    };
    progress = explore::run_sweep(plan, options);
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::uint64_t run = progress.done + progress.failed + progress.crashed;
  std::string out = to_text(file, plan, progress, database);
  if (run > 0) {
    out += fmt::format("{:<13}{}, {:.0f} jobs/s by {}\n", "time", report::with_prefix(seconds, "s"),
                       static_cast<double>(run) / seconds,
                       report::counted(std::min<std::uint64_t>(options.jobs, run), "worker"));
  }
  print(out);
  if (Interruption::happened()) {
    text::complain(
        fmt::format("interrupted; all results so far are in {}, and the same command goes on from there", database));
    return kInterruptedStatus;
  }
  if (progress.failures.empty()) return 0;
  text::complain(fmt::format("{} of {} did not end well; {}", report::with_commas(progress.failures.size()),
                             report::counted(progress.jobs, "job"),
                             progress.crashed > 0
                                 ? "the same command tries those that crashed again, --retry all of them"
                                 : "--retry tries them again"));
  return 1;
}

}  // namespace

void add_sweep(CLI::App& app, int& status) {
  const auto a = std::make_shared<SweepArguments>();
  CLI::App& command =
      *app.add_subcommand("sweep", "run many jobs: machines, layers, dataflows and tilings from a file");
  command.add_option("sweep", a->sweep, "a name under configs/sweeps or a path")->required();
  add_output(command, "--db", a->database,
             "where results go; what is there already is not run again (default: SWEEP.db)");
  unquoted(command.add_option("--jobs", a->jobs, "processes; 0: one for each processor"))
      ->check(within(0, kMostProcesses))
      ->capture_default_str();
  command.add_option("--shard", a->shard, "k/n: only share k of n")->capture_default_str();
  command.add_flag("--dry-run", a->dry_run, "say what there is to do, and do nothing");
  command.add_flag("--status", a->status, "say what is left to do; exit status 1 when something is");
  command.add_flag("--retry", a->retry, "run the jobs again that failed, as after a change of what they read");
  CLI::Option* slurm = command.add_flag("--slurm", a->slurm, "write and submit a Slurm job array and a merge job");
  command.add_option("--shards", a->shards, "with --slurm: jobs of the array")
      ->check(within(1, kMostShards))
      ->capture_default_str()
      ->needs(slurm);
  add_list(command, "--slurm-option", a->slurm_options, "with --slurm: an option for sbatch, such as --time=1:00:00")
      ->needs(slurm);
  command.add_flag("!--no-submit", a->submit, "with --slurm: only write the scripts")->needs(slurm);
  add_memory_limit(command);
  command.callback([a, &status] { status = sweep(*a); });
}

}  // namespace attnvp::cli
