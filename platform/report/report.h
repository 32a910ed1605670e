// Reports of results, as JSON (schema 1) and as text: of one run with its power and energy, of runs compared, of jobs
// side by side, and the reference of all keys.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "models/keys/key.h"
#include "platform/report/json.h"
#include "platform/run/beside.h"
#include "platform/run/job.h"
#include "platform/run/results/accounting.h"

namespace attnvp::report {

// Another dataflow that `--dataflow auto` considered.
struct Alternative {
  std::string dataflow;
  double estimated_cycles = 0;
  std::uint64_t cycles = 0;  // 0: not simulated
};

struct JsonParts {
  std::string timeline;                  // path relative to the JSON's folder; empty: none
  bool energy_range = false;             // adds the low and high ends of the energy range
  std::vector<std::string> overrides{};  // "key=value" of the machine
  std::string machine_hash{};            // config::machine_hash
  std::uint64_t seed = 0;                // of generated tensors
  std::vector<Alternative> beaten{};     // dataflows not selected, best first
  double least_cycles = 0;               // lower bound of any schedule; 0: nothing was selected
};
std::string to_json(const job::RunResult& result, const std::string& hardware, const JsonParts& parts = {});
// Cycles, time, utilisation, distribution of work, traffic and energy of one run.
std::string to_text(const job::RunResult& result, const std::string& hardware);

// Distribution of a run's work over clusters and cores, as JSON and as text.

// Adds "imbalance" to a run's document for machines with several clusters or cores. "clusters": for each of "macs",
// "vec_cycles" and "dma_bytes" the values "each", "most", "mean" and "ratio"; "end_cycle" of each, and "first" and
// "last". "cores": the same without DMA.
void add_imbalance(nlohmann::ordered_json& document, const job::Imbalance& imbalance);
// The same as text, with an empty line at the end; empty for a single worker.
std::string imbalance_text(const job::Imbalance& imbalance);

// Common parts of run reports.

std::string golden_text(const job::RunResult& result);   // "passed", "FAILED", "not checked"
std::string resource_name(const std::string& resource);  // "l1_port": "L1 port"
nlohmann::ordered_json golden_json(const job::RunResult& result);
nlohmann::ordered_json tiling_json(const job::Schedule& schedule);

// Power, area and energy ranges of a run, what bounds it, and its action counts for Accelergy.

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

// Comparison of runs: a text table of one layer with several dataflows, and a CSV table of any runs.

struct ComparisonRow {
  std::string dataflow;
  std::uint64_t cycles = 0;
  double seconds = 0, mac = 0, vec = 0;  // busy shares
  double dram_bytes = 0, energy_j = 0;
  std::string bound;  // resource and its share, "MAC 98.6%"
  std::vector<std::pair<std::string, std::string>> tiling;
  std::string golden;  // golden_text
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ComparisonRow, dataflow, cycles, seconds, mac, vec, dram_bytes, energy_j, bound,
                                   tiling, golden)

ComparisonRow comparison_row(const job::RunResult& result);
// One line a row, cycles relative to the first row, and a legend. `tilings` adds a table of tile sizes.
std::string comparison(const std::vector<ComparisonRow>& rows, bool tilings);

// CSV table of JSON reports, one row a run: every scalar, in order of the reports, with the column names of sweeps
// ("energy_pj.total"); empty if a run lacks it. Lists, counters and stall attribution are omitted.
std::string runs_csv(const std::vector<std::string>& reports);

// Report of concurrent jobs, as text and as JSON.

// One line for each job, and one for the total.
std::string to_text(const job::SideBySide& run, const std::string& hardware);
// "jobs", each with "network", "clusters", "dataflow", "tiling", "cycles", "alone_cycles", "slowdown", "seconds",
// "golden", "utilization", "dram" (its "read_bytes" and "write_bytes", and its "share" of all), "energy_pj" of its
// clusters until its end, "counters"; "together": cycles, traffic, utilisation and energy of the whole machine.
std::string to_json(const job::SideBySide& run, const std::string& hardware, const JsonParts& parts);

// Reference of all configuration keys, generated from the tables that validate them.

// Text of configs/README.md. A test compares the file with it; `ATTNVP_UPDATE_REFERENCE=1` on that test rewrites it.
std::string reference_markdown();

// Paths of machine and network keys.
std::vector<std::string> key_paths();
// Description of a key by path, of a network's inline name, or of all keys of a section: type, unit, default, range,
// meaning. Empty: unknown.
std::string key_text(const std::string& path);
// Description of a key of any table; `holder`: "machine".
std::string key_text(const config::KeyInfo& key, const std::string& holder, const std::string& default_text);

}  // namespace attnvp::report
