// Streaming SDPA study: streaming graphs over sequence lengths and over depths of the long FIFO.
#pragma once

#include "explore/papers/papers.h"
#include "platform/streaming/stream_run.h"

namespace attnvp::papers {

inline const std::string kNaive = "naive", kMemoryFree = "memory-free", kSafeSoftmax = "safe-softmax";

struct StreamingPoint {
  std::string graph;
  std::uint32_t n = 0;
  stream::StreamResult result;
  std::uint64_t paper_cycles = 0;  // 0: not stated
};

struct DepthPoint {
  std::uint64_t depth = 0;
  bool deadlocked = false;
  std::uint64_t cycles = 0;
  std::uint64_t paper_cycles = 0;
};

// FIFO depths needed by the naive graph at one N.
struct Threshold {
  std::uint32_t n = 0;
  bool unit_times = false;      // all latencies and initiation intervals are 1
  std::uint64_t runs_from = 0;  // smallest depth without deadlock, and its cycles
  std::uint64_t slowest_cycles = 0;
  std::uint64_t full_rate_from = 0;  // smallest depth at full rate, and its cycles
  std::uint64_t full_rate_cycles = 0;
};

struct StreamingStudy {
  std::vector<StreamingPoint> points;  // by graph, N ascending
  std::uint32_t sweep_n = 64;
  std::vector<DepthPoint> sweep;  // depth ascending
  std::vector<Threshold> thresholds;

  const StreamingPoint& at(const std::string& graph, std::uint32_t n) const;
  std::vector<const StreamingPoint*> of(const std::string& graph) const;
};

// N = 16, 32, ... up to `longest`. Throws config::ConfigError.
StreamingStudy run_streaming_study(std::uint32_t longest, const StudyProgress& progress);
// Plots are named STEM-SUFFIX.svg.
StudyReport streaming_report(const StreamingStudy& study, const std::string& stem);

}  // namespace attnvp::papers
