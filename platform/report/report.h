// Report of a run's result, as JSON (schema 1) and as text.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

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

}  // namespace attnvp::report
