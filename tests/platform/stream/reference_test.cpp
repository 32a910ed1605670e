// The channel and node rules, cycle by cycle, as plain as they can be written; random graphs must agree with it in
// cycles, peaks and deadlocks. The machine never steps through cycles: its nodes run ahead, each with a time of its
// own.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <random>
#include <set>

#include "tests/platform/stream/runs.h"

namespace attnvp::stream {
namespace {

class CycleByCycle {
 public:
  explicit CycleByCycle(const Graph& graph)
      : graph_(graph), nodes_(graph.nodes.size()), channels_(graph.channels.size()) {
    for (std::size_t c = 0; c < channels_.size(); ++c) {
      for (std::uint32_t i = 0; i < graph.channels[c].tokens; ++i) send(c, 0, 0);
    }
    std::uint64_t last_change = 0, longest = 0;
    for (const NodeSpec& node : graph.nodes) longest = std::max(longest, node.ii + node.latency);
    for (std::uint64_t now = 0; now <= last_change + longest + 2; ++now) {
      for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const bool took = take(i, now), sent = send_results(i, now);
        if (took || sent) last_change = now;
      }
    }
    cycles = last_change;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const NodeState& node = nodes_[i];
      if (node.fired == graph.firings(graph.nodes[i])) continue;
      stuck = true;
      cycles = std::max(cycles, node.holds ? node.taken : node.free_at);
    }
    for (const ChannelState& channel : channels_) peaks.push_back(channel.peak);
  }

  std::uint64_t cycles = 0;
  bool stuck = false;
  std::vector<std::uint64_t> peaks;

 private:
  struct NodeState {
    std::uint64_t fired = 0, free_at = 0, taken = 0;
    bool holds = false;
  };
  struct ChannelState {
    std::deque<std::uint64_t> arrivals;    // of elements not taken yet
    std::vector<std::uint64_t> slots_end;  // of elements taken: when the slot is free
    std::uint64_t sent = 0, peak = 0;
  };

  // Position in the row: first and last decide which per-row ports are due.
  bool due(std::size_t node, std::size_t channel, bool output) const {
    if (graph_.nodes[node].per_row || !graph_.channels[channel].per_row) return true;
    const std::uint64_t column = nodes_[node].fired % graph_.n;
    return column == (output ? graph_.n - 1 : 0);
  }

  std::uint64_t in_flight(std::size_t c, std::uint64_t now) const {
    const auto& ends = channels_[c].slots_end;
    return channels_[c].sent - static_cast<std::uint64_t>(std::count_if(ends.begin(), ends.end(),
                                                                        [&](std::uint64_t end) { return end <= now; }));
  }

  void send(std::size_t c, std::uint64_t now, std::uint64_t arrival) {
    ChannelState& channel = channels_[c];
    ++channel.sent;
    channel.arrivals.push_back(arrival);
    channel.peak = std::max(channel.peak, in_flight(c, now));
  }

  bool take(std::size_t i, std::uint64_t now) {
    NodeState& node = nodes_[i];
    if (node.holds || node.fired == graph_.firings(graph_.nodes[i]) || node.free_at > now) return false;
    std::vector<std::size_t> inputs;
    for (std::size_t c = 0; c < channels_.size(); ++c) {
      if (graph_.channels[c].to != i || !due(i, c, false)) continue;
      if (channels_[c].arrivals.empty() || channels_[c].arrivals.front() > now) return false;
      inputs.push_back(c);
    }
    for (const std::size_t c : inputs) {
      channels_[c].arrivals.pop_front();
      channels_[c].slots_end.push_back(now + 1);
    }
    node.holds = true;
    node.taken = now;
    return true;
  }

  bool send_results(std::size_t i, std::uint64_t now) {
    NodeState& node = nodes_[i];
    if (!node.holds) return false;
    std::vector<std::size_t> outputs;
    for (std::size_t c = 0; c < channels_.size(); ++c) {
      if (graph_.channels[c].from != i || !due(i, c, true)) continue;
      if (in_flight(c, now) >= graph_.channels[c].depth) return false;
      outputs.push_back(c);
    }
    for (const std::size_t c : outputs) send(c, now, std::max(node.taken + graph_.nodes[i].latency, now + 1));
    node.holds = false;
    node.free_at = now + graph_.nodes[i].ii;
    ++node.fired;
    return true;
  }

  const Graph& graph_;
  std::vector<NodeState> nodes_;
  std::vector<ChannelState> channels_;
};

void expect_equal(const Graph& graph, const std::string& what) {
  const CycleByCycle expected(graph);
  StreamRunner::StreamOptions options;
  options.explain = false;
  const StreamResult result = run(graph, options);
  EXPECT_EQ(result.deadlocked, expected.stuck) << what;
  EXPECT_EQ(result.cycles, expected.cycles) << what;
  EXPECT_EQ(peaks(result), expected.peaks) << what;
}

TEST(StreamReference, AgreesOnTheShippedGraphs) {
  for (const char* name : {"naive", "memory-free", "safe-softmax"}) {
    for (const std::uint32_t n : {1, 2, 3, 5, 11, 20})
      expect_equal(load_graph(name, n, 1), fmt::format("{} {}", name, n));
  }
}

// Scalars per score and per row, joined at random; results that nobody takes are discarded.
class RandomGraph {
 public:
  explicit RandomGraph(unsigned seed) : random_(seed) {}

  std::string yaml() {
    add_node("q", "source, tensor: Q" + std::string(pick(2) ? ", per: row" : ""));
    add_node("k", "source, tensor: K");
    add_node("s", "dot");
    connect("q", "s.q");
    connect("k", "s.k");
    scores_.push_back("s");
    const std::size_t more = 2 + pick(8);
    for (std::size_t i = 0; i < more; ++i) add_random(fmt::format("n{}", i));
    if (pick(3) == 0) add_feedback();
    for (const auto* list : {&scores_, &rows_}) {
      for (const std::string& port : *list) {
        if (used_.count(port) > 0) continue;
        const std::string name = fmt::format("end{}", nodes_count_);
        add_node(name, "discard");
        connect(port, name);
      }
    }
    return "nodes:\n" + nodes_ + "channels:\n" + channels_;
  }

 private:
  std::size_t pick(std::size_t choices) { return random_() % choices; }  // not a distribution: those vary
  const std::string& any(const std::vector<std::string>& list) { return list[pick(list.size())]; }

  void add_node(const std::string& name, const std::string& op) {
    nodes_ += fmt::format("  {}: {{op: {}, ii: {}, latency: {}}}\n", name, op, 1 + pick(3), pick(7));
    ++nodes_count_;
  }
  void connect(const std::string& from, const std::string& to, std::size_t tokens = 0) {
    static const char* const kDepths[] = {"1", "2", "3", "N", "N + 3", "2*N", "unbounded"};
    const std::string depth = tokens > 0 ? "4" : kDepths[pick(7)];
    channels_ +=
        fmt::format("  c{}: {{from: {}, to: {}, depth: {}, tokens: {}}}\n", channels_count_++, from, to, depth, tokens);
    used_.insert(from);
  }

  void add_random(const std::string& name) {
    const std::size_t kind = pick(6);
    if (kind == 0) {
      add_node(name, "exp");
      connect(any(scores_), name);
      scores_.push_back(name);
    } else if (kind == 1) {
      add_node(name, "add");
      connect(any(scores_), name + ".x");
      connect(any(scores_), name + ".y");
      scores_.push_back(name);
    } else if (kind == 2 || rows_.empty()) {
      add_node(name, pick(2) ? "sum" : "max");
      connect(any(scores_), name);
      rows_.push_back(name);
    } else if (kind == 3) {
      add_node(name, "running_max");
      connect(any(scores_), name);
      scores_.push_back(name + ".scale");
      scores_.push_back(name + ".weight");
    } else if (kind == 4) {
      add_node(name, "sub");
      connect(any(scores_), name + ".x");
      connect(any(rows_), name + ".y");
      scores_.push_back(name);
    } else {
      add_node(name, "mul");
      connect(any(rows_), name + ".x");
      connect(any(rows_), name + ".by");
      rows_.push_back(name);
    }
  }

  // A running sum over everything: z = x + the z before.
  void add_feedback() {
    add_node("feedback", "add");
    connect(any(scores_), "feedback.x");
    connect("feedback", "feedback.y", 1 + pick(3));
    used_.erase("feedback");
    scores_.push_back("feedback");
  }

  std::mt19937 random_;
  std::string nodes_, channels_;
  std::size_t nodes_count_ = 0, channels_count_ = 0;
  std::vector<std::string> scores_, rows_;
  std::set<std::string> used_;
};

TEST(StreamReference, AgreesOnRandomGraphs) {
  std::size_t finished = 0, stuck = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    const std::string yaml = RandomGraph(seed).yaml();
    const Graph graph = graph_from(yaml, 1 + seed % 7);
    expect_equal(graph, fmt::format("seed {}, N={}\n{}", seed, graph.n, yaml));
    if (HasFailure()) break;
    ++(CycleByCycle(graph).stuck ? stuck : finished);
  }
  EXPECT_GT(finished, 50U);
  EXPECT_GT(stuck, 25U);
}

}  // namespace
}  // namespace attnvp::stream
