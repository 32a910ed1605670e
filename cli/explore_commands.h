// The commands of explore/ behind the command line. Exit status and exceptions as in cli/commands.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attnvp::cli {

struct SearchArguments {
  std::string hardware = "edge";
  std::string network = "bert-base";
  std::string dataflow;
  std::vector<std::string> settings;  // --set key=value
  std::string objective = "cycles";   // energy, edp
  std::string strategy = "descent";   // grid, ga, mcts
  std::uint64_t budget = 0;           // evaluations; 0: all that the strategy wants (grid), 400 otherwise
  unsigned jobs = 0;                  // processes; 0: as many as the host has processors
  std::uint64_t seed = 1;
  double seconds = 0;    // of wall time, at most; 0: no limit
  std::string csv, svg;  // convergence
  std::string save;      // the best tiling, as --tiling reads it
  std::string json;      // "-" is stdout, alone
};
int search(const SearchArguments& arguments);

inline constexpr std::uint64_t kMostProcesses = 1024;
inline constexpr std::uint64_t kMostShards = 10000;

struct SweepArguments {
  std::string sweep;          // a name under configs/sweeps or a path
  std::string database;       // default: SWEEP.db, SWEEP.K-of-N.db for a shard
  std::uint64_t jobs = 0;     // processes; 0: as many as the host has processors
  std::string shard = "1/1";  // this share of how many
  bool dry_run = false;       // says what there is to do
  bool retry = false;         // jobs that failed before, too
  bool status = false;        // says what is left; exit status 1 when something is
  bool slurm = false;         // writes and submits an array and a merge job
  bool submit = true;
  std::uint64_t shards = 4;                // of the array
  std::vector<std::string> slurm_options;  // "--time=1:00:00", for sbatch
};
// Exit status 1 also when a job failed or crashed, now or before; 130 after Ctrl-C.
int sweep(const SweepArguments& arguments);

struct MergeArguments {
  std::string destination;
  std::vector<std::string> sources;
  bool different_sweeps = false;
};
int merge(const MergeArguments& arguments);

struct ParetoArguments {
  std::string database;
  std::string x = "cycles", y = "energy_pj.total", z;  // expressions over columns; less is better, "max:..." more
  std::string where;                                   // only rows for which this holds
  std::string within;                                  // "5%" of the best x: which of them has the least y?
  std::string versus;                                  // "mas,flat": where does the first win?
  std::string csv, svg, html;
};
int pareto(const ParetoArguments& arguments);

struct SensitivityArguments {
  std::string database;
  std::vector<std::string> objectives = {"cycles", "energy_pj.total"};
  std::string where;
  std::string csv, svg;
};
int sensitivity(const SensitivityArguments& arguments);

}  // namespace attnvp::cli
