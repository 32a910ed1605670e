// A sweep as its file says it; docs/reference/file-formats.md has the format.
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
  std::string name;    // the file's, without .yaml
  std::string source;  // for messages
  SweepKind kind = SweepKind::kGrid;
  std::uint64_t samples = 0;  // random, lhs
  std::uint64_t seed = 1;
  bool full = false;                      // data: full
  std::vector<config::Setting> settings;  // of every machine
  std::vector<Derived> derived;
  std::vector<Axis> axes;
  // Everything is done with each of these, whatever the kind: hardware, network, dataflow, tiling, in kChoices' order;
  // one axis each, empty where an axis of that name is among `axes`.
  std::vector<Axis> crossed;
  std::vector<std::pair<Expression, config::Origin>> constraints;
};

// A name under configs/sweeps or a path. Throws ConfigError with file, line, key, what was found and what is allowed.
SweepFile load_sweep(const std::string& name_or_path);

// One text per key of every axis, in the file's order.
using SweepPoint = std::vector<std::string>;

// Calls `accept` for every point of the grid, or for samples until `samples` of them were accepted (random) or tried
// (Latin hypercube: each axis is cut into as many strata as there are samples, and every stratum is used once).
// No point comes twice but in a grid, which has none twice. Random gives up after 100 tries per sample, or when it
// finds nothing new. The sequence depends on the axes, samples and seed alone.
void for_each_point(const SweepFile& sweep, const std::function<bool(const SweepPoint&)>& accept);

// How many points a grid has; at most 2^63 is told apart.
double grid_size(const std::vector<Axis>& axes);

}  // namespace attnvp::explore
