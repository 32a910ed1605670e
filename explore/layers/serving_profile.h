// Latency tables of a model on a machine, as simulators of serving read them: LLMServingSim (profile bundles) and Vidur
// (compute and attention profiles). Every distinct operation is simulated once.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "explore/layers/layers.h"

namespace attnvp::explore {

// Greatest values; each axis has the powers of two up to its greatest.
struct ServingGrid {
  std::uint32_t tokens = 2048;  // of a step, and of a chunk of a prompt
  std::uint32_t cache = 8192;   // tokens in the cache of a sequence
  std::uint32_t batch = 64;     // sequences in decode
};

struct ServingTable {
  std::string path;  // relative: "vidur/mlp.csv"
  std::string text;
};

struct ServingOptions {
  std::string dataflow;  // of attention
  TuningOptions tuning;
  unsigned jobs = 0;  // processes; 0: one for each host processor
  std::function<void(std::size_t done, std::size_t all)> progress;
};

// `network`: a text of --net without lengths, with the model's width. Throws config::ConfigError or job::RunError.
std::vector<ServingTable> serving_tables(const MachineConfig& machine, const std::string& network,
                                         const config::EnergyTable& energy, const ServingGrid& grid,
                                         const ServingOptions& options);

}  // namespace attnvp::explore
