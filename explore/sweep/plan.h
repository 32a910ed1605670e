// Sweep file with its axes, and the plan of a sweep: the jobs of all points that satisfy the constraints. Each job has
// a key for its results.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "explore/sweep/database.h"
#include "models/machine.h"
#include "platform/machine/document.h"
#include "platform/machine/schema.h"
#include "platform/run/job.h"
#include "platform/workload/workload.h"

namespace attnvp::explore {

// Sweep file; docs/reference/file-formats.md defines the format.

// Axis of a sweep: the values of one key, of several coupled keys, or a range of values.

// Inclusive range of numbers in the key's base unit.
struct AxisRange {
  const config::KeyInfo* key = nullptr;
  double from = 0, to = 0;
  bool logarithmic = false;
  double multiple = 0;       // values are multiples of it; 0: integers, or four significant digits
  std::uint32_t points = 0;  // evenly spaced values of a grid; 0: not allowed in grids
  // Text of the value at `share` (0 to 1) of the range; it parses to the same number.
  std::string at(double share) const;
};

struct Axis {
  std::vector<std::string> keys;                 // one, or several coupled keys
  std::vector<std::vector<std::string>> values;  // one text per key in each entry; empty for a range
  std::optional<AxisRange> range;
  config::Origin origin;

  std::vector<std::string> at(double share) const;  // 0 <= share < 1
  std::string name() const;                         // "mac.rows, mac.columns"
};

// Axes that are not keys of the machine.
inline const std::vector<std::string> kChoices = {"hardware", "network", "dataflow", "tiling"};

// "l1.size: [1 MiB, 2 MiB]", "mac.rows, mac.columns: [[16, 16], [8, 32]]",
// "l1.size: {from: 256 KiB, to: 8 MiB, scale: log, points: 6}". With `grid`, a range needs points and is expanded to
// values. Throws ConfigError with file and line.
Axis parse_axis(const config::Document& document, const std::string& name, const config::Origin& origin,
                const config::YamlNode& value, bool grid);

// Checks one value of a key or of an entry of kChoices; throws ConfigError. File paths are relative to the origin's
// folder.
void check_axis_value(const std::string& key, const std::string& text, const config::Origin& origin);

enum class SweepKind : std::uint8_t { kGrid, kRandom, kLatinHypercube };

struct Derived {  // "l1.ports: = 2 * cores + 1"
  std::string key;
  Expression expression;
  config::Origin origin;
};

struct SweepFile {
  std::string name;    // file name without .yaml
  std::string source;  // for messages
  SweepKind kind = SweepKind::kGrid;
  std::uint64_t samples = 0;  // random and lhs only
  std::uint64_t seed = 1;
  bool full = false;                      // data: full
  std::vector<config::Setting> settings;  // for every machine
  std::vector<Derived> derived;
  std::vector<Axis> axes;
  // Axes combined with all points, in the order of kChoices: hardware, network, dataflow, tiling. An entry is empty if
  // `axes` has an axis of that name.
  std::vector<Axis> crossed;
  std::vector<std::pair<Expression, config::Origin>> constraints;
};

// Loads a name under configs/sweeps or a path. Throws ConfigError with file, line, key, found and allowed values.
SweepFile load_sweep(const std::string& name_or_path);

// One text per key of every axis, in file order.
using SweepPoint = std::vector<std::string>;

// Calls `accept` for every point of a grid. Random sampling ends when `samples` points were accepted, after 100 draws
// per sample, or without a new point. A Latin hypercube draws one sample per stratum of each axis. Points are unique.
// Axes, samples and seed determine the sequence.
void for_each_point(const SweepFile& sweep, const std::function<bool(const SweepPoint&)>& accept);

// Number of points of a grid; exact up to 2^63.
double grid_size(const std::vector<Axis>& axes);

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
