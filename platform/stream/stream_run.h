// One run of a streaming graph, from tensors to report.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "platform/job/counters.h"
#include "platform/stream/deadlock.h"
#include "platform/stream/golden.h"
#include "platform/trace/waveform.h"

namespace attnvp::stream {

struct ChannelResult {
  std::uint64_t depth = 0;  // elements, or kUnbounded
  std::uint64_t peak = 0;   // most in flight
  std::uint64_t transfers = 0;
};

struct NodeResult {
  std::uint64_t firings = 0;
  std::uint64_t busy = 0, starved = 0, stalled = 0;  // cycles
};

struct Result {
  Graph graph;
  std::uint64_t cycles = 0;  // to the last element consumed, or to the deadlock
  bool deadlocked = false;
  Deadlock deadlock;
  GoldenResult golden;                  // not checked after a deadlock or without an `output`
  std::vector<ChannelResult> channels;  // as graph.channels
  std::vector<NodeResult> nodes;        // as graph.nodes
  std::vector<job::CounterValue> counters;
  std::uint64_t transfers = 0;  // over all channels
  double wall_seconds = 0;      // simulation alone

  double seconds() const { return static_cast<double>(cycles) / graph.clock_hz; }
  double scores_per_cycle() const;
  // What the graph keeps between its nodes at most: peaks of all channels but those from sources.
  std::uint64_t intermediate_bytes() const;
  double energy_pj(const std::string& scope) const;  // "channels", "nodes"; "" for all
};

class Runner {
 public:
  // Random tensors from the seed, as for `attnvp run`. One Runner at a time.
  Runner(const Graph& graph, config::EnergyTable energy, std::uint64_t seed);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  struct Options {
    bool check_golden = true;
    bool explain = true;                  // find what frees a deadlock
    trace::Waveform* waveform = nullptr;  // gets the files' texts
  };
  Result run(const Options& options);
  void set_depth(std::size_t channel, std::uint64_t depth);

 private:
  void collect(Result& result) const;

  Graph graph_;
  config::EnergyTable energy_;
  job::AttentionShape shape_;
  job::AttentionTensors tensors_;
  std::vector<float> q_, k_, v_, o_;
  std::unique_ptr<Machine> machine_;
};

}  // namespace attnvp::stream
