// Sweep file; docs/reference/file-formats.md defines the format.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "explore/sweep/axis.h"
#include "explore/sweep/columns.h"

namespace attnvp::explore {

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

}  // namespace attnvp::explore
