// FuseMax's experiment: four networks of batch 64, 1K to 1M tokens, on its machine and on its baseline.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "explore/reproduce/measure.h"

namespace attnvp::reproduce {

constexpr std::uint32_t kFusemaxBatch = 64;

struct FusemaxPoint {
  std::string network;                           // as the paper calls it
  std::uint32_t heads = 0, tokens = 0, emb = 0;  // heads of all batches
  std::map<std::string, Measure> ours;
  std::map<std::string, std::pair<std::string, double>> residual;  // of a third sample: which, cycles off, relative
  std::map<std::string, double> paper_cycles;                      // without those that it does not state
  double paper_mac_utilization = 0, paper_dram_bytes = 0;

  std::string name() const;  // "BERT 64K"
  double cycles(const std::string& dataflow) const { return ours.at(dataflow)[kCycles]; }
};

struct FusemaxStudy {
  MachineConfig machine, baseline;
  std::vector<std::string>
      dataflows;  // fusemax, its steps, and what it is compared with; all but the first two on `baseline`
  std::vector<FusemaxPoint> points;
  std::map<std::pair<std::string, std::string>, double> claims;

  const FusemaxPoint* find(const std::string& name) const;
};

std::string tokens_text(std::uint32_t tokens);  // 65536 -> "64K"

// Sequences of up to `most_tokens`. Throws config::ConfigError and job::RunError.
// A dataflow of the paper with the options and tiles that its authors assume.
job::Schedule in_their_sense(const std::string& dataflow, const MachineConfig& machine);

FusemaxStudy run_fusemax_study(std::uint32_t most_tokens, const std::function<void(const std::string&)>& progress);

}  // namespace attnvp::reproduce
