// Text table that compares runs of one layer with several dataflows.
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

}  // namespace attnvp::report
