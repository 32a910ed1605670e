// Comparison of runs: a text table of one layer with several dataflows, and a CSV table of any runs.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "platform/run/job.h"

namespace attnvp::report {

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

}  // namespace attnvp::report
