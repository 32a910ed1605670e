// Power, area and energy ranges of a run, what bounds it, and its action counts for Accelergy.
#pragma once

#include <string>
#include <vector>

#include "platform/report/json.h"
#include "platform/run/job.h"

namespace attnvp::report {

// Adds members `power_w` and `area_mm2`; their numbers add up to `total`.
void add_power(nlohmann::ordered_json& document, const job::RunResult& result);
void add_area(nlohmann::ordered_json& document, const job::RunResult& result);  // `area_mm2` only
// Adds `energy_range_pj`: `low` and `high`, each like `energy_pj`.
void add_energy_range(nlohmann::ordered_json& document, const job::RunResult& result);

// Watts, square millimetres, and a sentence if the power limit is exceeded.
std::string power_text(const job::RunResult& result);
// Counts and energy of DRAM commands and instruction classes with energies; empty without them.
std::string actions_text(const job::RunResult& result);
// Energy of every part with its range, and a sentence on values without a source.
std::string energy_range_text(const job::RunResult& result);

// The resource that binds and the first advice, if any: a sentence without full stop.
std::string bound_text(const job::Bound& bound);

// Whether result `a` takes less energy than `b` for all energies of actions within their ranges, the same for both.
enum class EnergyOrder { kLess, kMore, kUndecided };
EnergyOrder energy_order(const job::RunResult& a, const job::RunResult& b);
// Dataflows by energy, and pairs whose order is undecided within the ranges.
std::string ranking_text(const std::vector<job::RunResult>& results);

// Action counts of each instance, in the format of Accelergy's action_counts.

// YAML: every module with actions, by its hierarchical name. Counts times the entries of the ERT give the run's energy.
std::string action_counts_yaml(const job::RunResult& result);

}  // namespace attnvp::report
