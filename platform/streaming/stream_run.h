// Streaming graphs: the file format, and a runner that simulates a graph on random tensors, checks the output, analyses
// deadlocks and reports results.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/streaming/graph.h"
#include "models/streaming/machine.h"
#include "platform/machine/error.h"
#include "platform/run/golden/tensors.h"
#include "platform/run/results/accounting.h"
#include "platform/trace/waveform.h"

namespace attnvp::stream {

// Reader of streaming graphs in YAML (configs/streams): nodes with operation, initiation interval and latency, channels
// with depth; and the checks of what was read. configs/README.md describes the keys.

inline constexpr std::uint64_t kLargestSequence = 1 << 20;
inline constexpr std::uint64_t kLargestHead = 4096;

// Loads a name under configs/streams or a path, for N = n rows and scores per row and head dimension d. Throws
// config::ConfigError with file and line: unknown keys, operations, nodes and ports; unconnected or doubly connected
// ports; mismatched element types; cycles without a token.
Graph load_graph(const std::string& name_or_path, std::uint32_t n, std::uint32_t d);

// Parses "CHANNEL=DEPTH", with the depth as in a graph file; ConfigError names the option --depth.
void override_depth(Graph& graph, const std::string& assignment);

std::string depth_text(std::uint64_t depth);  // "12" or "unbounded"
// "scalar per score", "vector per row", ...
std::string type_text(const ChannelSpec& channel);
const char* port_name(const Graph& graph, const ChannelSpec& channel, bool from);

// Semantic checks of a streaming graph. Each throws config::ConfigError with file and line.

struct Draft {
  Graph graph;
  config::Origin file;
  std::vector<config::Origin> node_at, channel_at;  // as graph.nodes, graph.channels
};

// Every input port has one channel, every output port at least one; at most one node is an `output`.
void check_connections(const Draft& draft);

// Infers the element type of each channel and the firing rate of each node; fills in widths and rates.
void infer_types(Draft& draft);

// Every cycle of channels needs an initial token; otherwise none of its nodes can fire.
void check_cycles(const Draft& draft);

// Golden check of a streaming graph's output against softmax(Q K^T) V in double precision.
//
// The machine computes in FP32 (u = 2^-24). Let a_i be the greatest |q_i| |k_j| (2-norms) of row i. The error of a
// score is at most d u a_i; subtracting a maximum, at once or in telescoping steps, adds at most 4 u a_i. Each term of
// the sum or the output has at most 4 roundings per score of its row (exponential, scale, multiply, add) and a few
// more, in numerator and denominator. Hence, with e_i = 2 (d + 4) u a_i + 2 (4 N + 8) u and P the exact softmax:
//   |O_id - exact| <= (e^e_i - 1) sum_j P_ij |v_jd| <= (e^e_i - 1) max_j |v_jd|.
// For any scores the exact softmax is a mean of values, so the error is also at most
//   max_j v_jd - min_j v_jd + (e^r - 1) max_j |v_jd|, r = 2 (4 N + 8) u, from the roundings after the scores.
struct StreamGoldenResult {
  bool checked = false;
  bool passed = false;
  double max_abs_error = 0;
  std::uint64_t failures = 0;  // elements beyond their tolerance
  // Element with the greatest error / tolerance.
  std::uint32_t row = 0, column = 0;
  double expected = 0, actual = 0, tolerance = 0;

  std::string to_string() const;
};

// `output` is N x D.
StreamGoldenResult check_stream(const job::AttentionShape& shape, const job::AttentionTensors& tensors,
                                const std::vector<float>& output);

struct Blocked {
  std::size_t node = 0;
  std::size_t channel = 0;
  bool for_space = false;   // waits for space; else for data
  std::uint64_t since = 0;  // cycle
  std::size_t on = 0;       // node at the other end of the channel
};

// Deadlock analysis of a streaming machine: blocked nodes, circular wait, and channel depths that resolve it.
struct Deadlock {
  std::vector<Blocked> blocked;     // in order of nodes
  std::vector<std::size_t> circle;  // indices of `blocked`; each waits for the next, the last for the first
  // Channel depths with which the run finishes, and its cycles; empty if no depths resolve the deadlock. Each depth is
  // minimal for the given others.
  std::vector<std::pair<std::size_t, std::uint64_t>> freed_by;
  std::uint64_t freed_cycles = 0;
};

// For a machine whose run did not finish.
std::vector<Blocked> blocked_nodes(const Machine& machine);
std::vector<std::size_t> circle_from(const std::vector<Blocked>& blocked, std::size_t first);

// Runs the machine again, several times; leaves the depths that resolve the deadlock, if any.
Deadlock explain_deadlock(Machine& machine);

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
  StreamGoldenResult golden;            // not checked after a deadlock or without `output`
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

class StreamRunner {
 public:
  // Random tensors from the seed, as in `attnvp run`. Only one StreamRunner may exist at a time.
  StreamRunner(const Graph& graph, config::EnergyTable energy, std::uint64_t seed);
  ~StreamRunner();
  StreamRunner(const StreamRunner&) = delete;
  StreamRunner& operator=(const StreamRunner&) = delete;

  struct StreamOptions {
    bool check_golden = true;
    bool explain = true;                  // find depths that resolve a deadlock
    trace::Waveform* waveform = nullptr;  // receives the texts of its files
  };
  StreamResult run(const StreamOptions& options);
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

// Report of a streaming graph's run as text, JSON and Graphviz.

std::string to_text(const StreamResult& result);
std::string to_json(const StreamResult& result);

// Nodes with operation, interval and latency; channels with depth and peak occupancy, bold for vectors, dashed for one
// element a row. The circular wait of a deadlock is red.
std::string to_dot(const StreamResult& result);

// "deadlock at cycle 74: score waits for room in 'long' since cycle 64, ...", without full stop.
std::string deadlock_sentence(const StreamResult& result);

}  // namespace attnvp::stream
