// Report of a run's result, as JSON (schema 1) and as text.
#pragma once

#include <string>
#include <vector>

#include "platform/run/job.h"

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

}  // namespace attnvp::report
