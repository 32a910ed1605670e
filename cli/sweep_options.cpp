#include <memory>

#include "cli/explore_commands.h"
#include "cli/line.h"
#include "cli/machine_options.h"
#include "cli/validators.h"

namespace attnvp::cli {

namespace {

void add_sweep(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("sweep", "run many jobs: machines, layers, dataflows and tilings from a file");
  const auto a = std::make_shared<SweepArguments>();
  command->add_option("sweep", a->sweep, "a name under configs/sweeps or a path")->required();
  command
      ->add_option("--db", a->database, "where results go; what is there already is not run again (default: SWEEP.db)")
      ->check(not_empty());
  command->add_option("--jobs", a->jobs, "processes; 0: one for each processor")
      ->check(within(0, kMostProcesses))
      ->capture_default_str();
  command->add_option("--shard", a->shard, "k/n: only share k of n")->capture_default_str();
  command->add_flag("--dry-run", a->dry_run, "say what there is to do, and do nothing");
  command->add_flag("--status", a->status, "say what is left to do; exit status 1 when something is");
  command->add_flag("--retry", a->retry, "run the jobs again that failed, as after a change of what they read");
  CLI::Option* slurm = command->add_flag("--slurm", a->slurm, "write and submit a Slurm job array and a merge job");
  command->add_option("--shards", a->shards, "with --slurm: jobs of the array")
      ->check(within(1, kMostShards))
      ->capture_default_str()
      ->needs(slurm);
  command->add_option("--slurm-option", a->slurm_options, "with --slurm: an option for sbatch, such as --time=1:00:00")
      ->allow_extra_args(false)
      ->needs(slurm);
  command->add_flag("!--no-submit", a->submit, "with --slurm: only write the scripts")->needs(slurm);
  add_memory_limit(*command);
  command->callback([a, &status] { status = sweep(*a); });
}

void add_pareto(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("pareto", "the jobs of a sweep that no other job beats in everything");
  const auto a = std::make_shared<ParetoArguments>();
  command->add_option("database", a->database, "made by attnvp sweep")->required();
  command->add_option("-x", a->x, "what is to be least: a column or an expression; max:... for most")
      ->capture_default_str();
  command->add_option("-y", a->y, "the same, upwards in the plot")->capture_default_str();
  command->add_option("-z", a->z, "a third one, the colour in the plot")->check(not_empty());
  command->add_option("--where", a->where, "only jobs for which it holds, e.g. \"cores == 2\"")->check(not_empty());
  command->add_option("--within", a->within, "the job with the least -y of those whose -x is so close to the best: 5%")
      ->check(share());
  command->add_option("--versus", a->versus, "two dataflows, e.g. mas,flat: where does the first win, and where not?")
      ->check(not_empty());
  command->add_option("--csv", a->csv, "write the front as CSV")->check(not_empty());
  command->add_option("--svg", a->svg, "write the plot")->check(not_empty());
  command->add_option("--html", a->html, "write a page: plot with clickable points, front, sensitivity")
      ->check(not_empty());
  command->callback([a, &status] { status = pareto(*a); });
}

void add_sensitivity(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("sensitivity", "what each axis of a sweep does to each objective");
  const auto a = std::make_shared<SensitivityArguments>();
  command->add_option("database", a->database, "made by attnvp sweep")->required();
  command->add_option("--objective", a->objectives, "a column or an expression; repeat for more")
      ->allow_extra_args(false)
      ->capture_default_str();
  command->add_option("--where", a->where, "only jobs for which it holds, e.g. \"cores == 2\"")->check(not_empty());
  command->add_option("--csv", a->csv, "write all levels as CSV")->check(not_empty());
  command->add_option("--svg", a->svg, "write the plot")->check(not_empty());
  command->callback([a, &status] { status = sensitivity(*a); });
}

void add_merge(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("merge", "join the databases of a sweep's shards");
  const auto a = std::make_shared<MergeArguments>();
  command->add_option("destination", a->destination, "database that takes all")->required();
  command->add_option("sources", a->sources, "databases to take from")->required();
  command->add_flag("--different-sweeps", a->different_sweeps, "databases of different sweeps, too");
  command->callback([a, &status] { status = merge(*a); });
}

}  // namespace

void add_sweeps(CLI::App& app, int& status) {
  add_sweep(app, status);
  add_merge(app, status);
  add_pareto(app, status);
  add_sensitivity(app, status);
}

}  // namespace attnvp::cli
