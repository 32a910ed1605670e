// One number that a paper prints, or that follows from one, beside ours.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace attnvp::reproduce {

struct Entry {
  std::string quantity;  // "cycles", "speedup", "energy_pj", "saving_percent", "dram_reads_over_flat"; "best_..." of
                         // dataflows at their best
  std::string network;   // or "geomean" of the rows, or "geomean_printed"
  std::string dataflow;
  double paper = 0, ours = 0;
  std::string why;         // where they differ noteworthily in cycles or energy
  std::string schedule;    // the dataflow with its options, where it is not `dataflow`
  std::string calibrated;  // the machine's key that was fitted to the paper's cell, which is then no prediction

  double ratio() const { return ours / paper; }
};

nlohmann::ordered_json entries_json(const std::vector<Entry>& entries);
std::string entries_csv(const std::vector<Entry>& entries);  // its first line has the names

}  // namespace attnvp::reproduce
