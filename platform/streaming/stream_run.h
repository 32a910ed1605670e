// Runner of a streaming graph: simulates it on random tensors and collects results.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "platform/run/results/counters.h"
#include "platform/streaming/deadlock.h"
#include "platform/streaming/golden.h"
#include "platform/trace/waveform.h"

namespace attnvp::stream {

struct ChannelResult {
  std::uint64_t depth = 0;  // elements, or kUnbounded
  std::uint64_t peak = 0;   // maximum occupancy
  std::uint64_t transfers = 0;
};

struct NodeResult {
  std::uint64_t firings = 0;
  std::uint64_t busy = 0, starved = 0, stalled = 0;  // cycles
};

struct StreamResult {
  Graph graph;
  std::uint64_t cycles = 0;  // until the last element is consumed, or the deadlock
  bool deadlocked = false;
  Deadlock deadlock;
  GoldenResult golden;                  // not checked after a deadlock or without `output`
  std::vector<ChannelResult> channels;  // as graph.channels
  std::vector<NodeResult> nodes;        // as graph.nodes
  std::vector<job::CounterValue> counters;
  std::uint64_t transfers = 0;  // of all channels
  double wall_seconds = 0;      // simulation only

  double seconds() const { return static_cast<double>(cycles) / graph.clock_hz; }
  double scores_per_cycle() const;
  // Maximum storage between nodes: peaks of all channels except those from sources.
  std::uint64_t intermediate_bytes() const;
  double energy_pj(const std::string& scope) const;  // "channels", "nodes"; "" for all
};

class Runner {
 public:
  // Random tensors from the seed, as in `attnvp run`. Only one Runner may exist at a time.
  Runner(const Graph& graph, config::EnergyTable energy, std::uint64_t seed);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  struct Options {
    bool check_golden = true;
    bool explain = true;                  // find depths that resolve a deadlock
    trace::Waveform* waveform = nullptr;  // receives the texts of its files
  };
  StreamResult run(const Options& options);
  void set_depth(std::size_t channel, std::uint64_t depth);

 private:
  void collect(StreamResult& result) const;

  Graph graph_;
  config::EnergyTable energy_;
  job::AttentionShape shape_;
  job::AttentionTensors tensors_;
  std::vector<float> q_, k_, v_, o_;
  std::unique_ptr<Machine> machine_;
};

}  // namespace attnvp::stream
