// The Streaming SDPA paper's experiments: streaming graphs over sequence lengths and over depths of the long FIFO.
#pragma once

#include "explore/papers/papers.h"
#include "platform/stream/stream_run.h"

namespace attnvp::papers {

inline const std::string kNaive = "naive", kMemoryFree = "memory-free", kSafeSoftmax = "safe-softmax";

struct StreamingPoint {
  std::string graph;
  std::uint32_t n = 0;
  stream::Result result;
  std::uint64_t paper_cycles = 0;  // 0: the paper has none
};

struct DepthPoint {
  std::uint64_t depth = 0;
  bool deadlocked = false;
  std::uint64_t cycles = 0;
  std::uint64_t paper_cycles = 0;
};

// What the naive graph needs of its long FIFO at one N.
struct Threshold {
  std::uint32_t n = 0;
  bool unit_times = false;      // every latency and initiation interval is 1
  std::uint64_t runs_from = 0;  // smallest depth without a deadlock, and its cycles
  std::uint64_t slowest_cycles = 0;
  std::uint64_t full_rate_from = 0;  // smallest depth that costs nothing, and the cycles then
  std::uint64_t full_rate_cycles = 0;
};

struct StreamingStudy {
  std::vector<StreamingPoint> points;  // graph by graph, N ascending
  std::uint32_t sweep_n = 64;
  std::vector<DepthPoint> sweep;  // depth ascending
  std::vector<Threshold> thresholds;

  const StreamingPoint& at(const std::string& graph, std::uint32_t n) const;
  std::vector<const StreamingPoint*> of(const std::string& graph) const;
};

// N = 16, 32, ... up to `longest`. Throws config::ConfigError.
StreamingStudy run_streaming_study(std::uint32_t longest, const Progress& progress);
// `stem`: of the page's name; its plots are in STEM-SUFFIX.svg.
Report streaming_report(const StreamingStudy& study, const std::string& stem);

}  // namespace attnvp::papers
