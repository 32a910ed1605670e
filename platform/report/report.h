// A run's result as JSON (the design's schema 1) and as text for people.
#pragma once

#include <string>
#include <vector>

#include "platform/job/job.h"

namespace attnvp::report {

// Another dataflow that `--dataflow auto` looked at.
struct Alternative {
  std::string dataflow;
  double estimated_cycles = 0;
  std::uint64_t cycles = 0;  // 0: not simulated
};

struct JsonParts {
  std::string timeline;                  // where it is, seen from the JSON's folder; empty without one
  bool energy_range = false;             // with the low and the high end of its range
  std::vector<std::string> overrides{};  // of the machine: "key=value"
  std::string machine_hash{};            // config::machine_hash
  std::uint64_t seed = 0;                // of the tensors, where they were made
  std::vector<Alternative> beaten{};     // by the dataflow that was picked, best first,
  double least_cycles = 0;               //   what any schedule takes at least; 0: nothing was picked
};
std::string to_json(const job::Result& result, const std::string& hardware, const JsonParts& parts = {});
// Cycles, time, utilisation, how work was dealt, traffic, energy of one run.
std::string to_text(const job::Result& result, const std::string& hardware);
// One line a run, the last column relative to the first of them.
struct ComparisonRow {
  std::vector<std::string> cells;
  std::uint64_t cycles = 0;
};
ComparisonRow comparison_row(const job::Result& result);
std::string comparison(const std::vector<ComparisonRow>& rows);

}  // namespace attnvp::report
