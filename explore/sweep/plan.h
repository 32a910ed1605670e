// A sweep's jobs: every point of the file, constraints applied, each with the key under which its results are kept.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "explore/sweep/sweep_file.h"
#include "models/machine.h"
#include "platform/config/network.h"
#include "platform/job/job.h"

namespace attnvp::explore {

struct PlannedMachine {
  std::string hardware;  // what it starts from
  MachineConfig config;
  std::string settings;  // "--set 'l1.size=2 MiB' ...": from the one to the other
  std::string problem;   // not empty: no such machine can be; a sentence
};

struct PlannedSchedule {
  job::Schedule schedule;  // with its tiling
  std::string tiling;      // as written
  bool searched = false;   // tiling: auto
};

struct Job {
  std::uint32_t machine = 0, network = 0, schedule = 0;  // positions in the plan's lists
  std::string key;  // a UUID (version 5) of all that determines the results: machine, layer, schedule, energies,
                    // simulator
};

struct Plan {
  std::vector<PlannedMachine> machines;
  std::vector<config::Network> networks;
  std::vector<std::string> network_texts;
  std::vector<PlannedSchedule> schedules;
  std::vector<Job> jobs;          // machine by machine; no key twice
  std::string name;               // of the sweep
  std::vector<std::string> axes;  // columns that take several values; of keys that move together the first
  bool full = false;
  std::uint64_t excluded = 0;  // points that a constraint refused

  // "attnvp run --hw edge --set ... --net ... --dataflow ... --data timing"
  std::string command(const Job& job) const;
  // Equal for plans of the same jobs, on any host: a hash of all keys.
  std::string identity() const;
};

inline constexpr std::uint64_t kMostJobs = 1000000;

// Throws ConfigError: more than kMostJobs, no job at all, a derived value that its key does not allow.
Plan make_plan(const SweepFile& sweep);

// The positions of a share of the jobs: number k of n (1 <= k <= n). The shares of one plan have every job once.
std::vector<std::uint32_t> share_of(const Plan& plan, std::uint32_t k, std::uint32_t n);

}  // namespace attnvp::explore
