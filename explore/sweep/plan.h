// SweepPlan of a sweep: the jobs of all points that satisfy the constraints. Each job has a key for its results.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "explore/sweep/sweep_file.h"
#include "models/machine.h"
#include "platform/run/job.h"
#include "platform/workload/workload.h"

namespace attnvp::explore {

struct PlannedMachine {
  std::string hardware;  // base machine
  MachineConfig config;
  std::string settings;  // "--set 'l1.size=2 MiB' ...": differences from the base machine
  std::string problem;   // reason why the machine is invalid; empty: valid
};

struct PlannedSchedule {
  job::Schedule schedule;  // including its tiling
  std::string tiling;      // as written
  bool searched = false;   // tiling: auto
  bool is_auto = false;    // dataflow: auto; `schedule` has only the tiling
};

struct SweepJob {
  std::uint32_t machine = 0, network = 0, schedule = 0;  // indices in the plan's lists
  // UUID (version 5) of everything that determines the results: machine, layer, schedule, energies, simulator.
  std::string key;
};

struct SweepPlan {
  std::vector<PlannedMachine> machines;
  std::vector<workload::Workload> networks;
  std::vector<std::string> network_texts;
  std::vector<PlannedSchedule> schedules;
  std::vector<SweepJob> jobs;     // grouped by machine; keys are unique
  std::string name;               // of the sweep
  std::vector<std::string> axes;  // columns with several values; of coupled keys only the first
  bool full = false;
  std::uint64_t excluded = 0;  // points that a constraint excluded

  // "attnvp run --hw edge --set ... --net ... --dataflow ... --data timing"
  std::string command(const SweepJob& job) const;
  // Hash of all keys: equal for plans with the same jobs on any host.
  std::string identity() const;
};

inline constexpr std::uint64_t kMostJobs = 1000000;

// Throws ConfigError: more than kMostJobs, no job, or an invalid derived value.
SweepPlan make_plan(const SweepFile& sweep);

// SweepJob indices of shard k of n (1 <= k <= n). The shards of a plan partition its jobs.
std::vector<std::uint32_t> share_of(const SweepPlan& plan, std::uint32_t k, std::uint32_t n);

}  // namespace attnvp::explore
