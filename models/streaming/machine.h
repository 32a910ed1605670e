// Streaming machine: the nodes and channels of a graph as a SystemC module tree, and its runs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/streaming/channel.h"

namespace attnvp::stream {

// Reason why a node is blocked.
struct Wait {
  const Channel* channel = nullptr;  // nullptr: not blocked
  bool for_space = false;            // for a slot; false: for data
  std::uint64_t since = 0;           // cycle
};

inline constexpr std::uint64_t kLastCycle = std::uint64_t{1} << 62;

// Node of a streaming graph: takes its inputs, computes and sends its results. Rules, in cycles:
//   - it takes all inputs of a firing together, at the latest of its own time and their arrivals;
//   - it sends all results together when every channel has a free slot; they are due `latency` after the inputs;
//   - its own time is then `ii` after the send.
// A process runs until a channel blocks it, regardless of SystemC time. One activation covers as many firings as the
// channels allow.
class Node : public Module {
 public:
  // Fires for every unmasked score of the graph, or for every row.
  Node(sc_core::sc_module_name name, Context& context, const NodeSpec& spec, const Graph& graph);
  void connect_input(std::size_t port, Channel& channel);
  void connect_output(std::size_t port, Channel& channel);
  // Sources read rows of this tensor, an output writes them: N x width.
  void bind_tensor(float* tensor) { tensor_ = tensor; }
  void set_trace(TraceLog* log) { log_ = log; }

  void start() { wake_.notify(sc_core::SC_ZERO_TIME); }
  // The node has stopped at kLastCycle, far below the range of 64 bits.
  bool out_of_time() const { return out_of_time_; }
  bool done() const { return fired_ == firings_; }
  const Wait& wait_state() const { return wait_; }
  std::uint64_t last_cycle() const { return last_; }  // of its latest progress: the later of take and send
  const NodeSpec& spec() const { return spec_; }

  void count();
  void reset() override;

  Counter elements{*this, "firings", "firings", "times it computed"};
  Counter busy{*this, "busy_cycles", "cycles", "initiation intervals of its firings"};
  Counter starved{*this, "starved_cycles", "cycles", "waiting for data"};
  Counter stalled{*this, "stalled_cycles", "cycles", "waiting for space in a channel"};
  Counter arithmetic{*this, "arithmetic", "operations", "multiply-adds, sums, comparisons", {"attnvp.node", "compute"}};
  Counter exponentials{*this, "exponentials", "operations", "exponentials", {"attnvp.node", "exp"}};
  Counter divisions{*this, "divisions", "operations", "divisions", {"attnvp.node", "divide"}};

 private:
  struct NodeInput {
    Channel* channel = nullptr;
    std::vector<float> held;  // per-row input of a per-score node, kept for the row; otherwise empty
  };
  struct NodeOutput {
    Channel* channel = nullptr;
    std::size_t port = 0;
  };
  enum FiringState : std::uint8_t { kIdle, kWorking, kWaitsForData, kWaitsForRoom };

  void run();
  bool take();
  bool send();
  bool input_due(const NodeInput& input) const { return input.held.empty() || column_ == 0; }
  bool output_due(const NodeOutput& output) const { return last_column() || !output.channel->spec().per_row; }
  bool last_column() const { return column_ + 1 == length_; }
  void begin_row();
  float* tensor_row() const;
  void record(std::uint64_t cycle, FiringState state) {
    if (log_ != nullptr) log_->set(cycle, state_, state);
  }

  NodeSpec spec_;
  std::uint32_t rows_;
  hal::Mask mask_;
  std::uint64_t firings_;
  std::vector<NodeInput> inputs_;
  std::vector<NodeOutput> outputs_;
  std::vector<std::vector<float>> results_;  // per output port
  std::vector<const float*> in_;
  std::vector<float*> out_;
  std::vector<float> memory_;  // state of the operation
  float* tensor_ = nullptr;
  TraceLog* log_ = nullptr;
  sc_core::sc_event wake_;
  Signal state_;

  std::uint64_t fired_ = 0;
  std::uint32_t row_ = 0;
  std::uint64_t column_ = 0, length_ = 1;  // in the row, over visible scores
  hal::Visible seen_;                      // visible keys of the row
  std::uint64_t now_ = 0;                  // its own time
  std::uint64_t taken_ = 0;                // cycle in which the current inputs were taken
  bool out_of_time_ = false;
  bool holds_ = false;  // has results that are not sent
  std::uint64_t last_ = 0;
  std::uint64_t starved_cycles_ = 0, stalled_cycles_ = 0;
  Wait wait_;
};

// Separate scopes of names, since a node may have the name of a channel.
struct ChannelScope : public sc_core::sc_module {
  ChannelScope(sc_core::sc_module_name name, Context& context, const Graph& graph);
  std::vector<std::unique_ptr<Channel>> all;
};
struct Nodes : public sc_core::sc_module {
  Nodes(sc_core::sc_module_name name, Context& context, const Graph& graph);
  std::vector<std::unique_ptr<Node>> all;
};

class Machine : public sc_core::sc_module {
 public:
  // q, k, v and o are N x D, row-major, and must outlive the machine. Only one machine may exist at a time.
  Machine(sc_core::sc_module_name name, const Graph& graph, float* q, float* k, float* v, float* o);

  // Runs from the start with the current depths until every node is done or blocked. SystemC time and the signals then
  // have advanced by the run's cycles.
  struct StreamOutcome {
    bool finished = false;
    std::uint64_t cycles = 0;  // to the last consumed element, or until all nodes are done or blocked
    std::string problem;       // end of time or of host memory, as a sentence; empty: none
  };
  StreamOutcome run(bool traced = false);

  // Continues a blocked run with more depth in one channel. The elements that pass are those of a run with that depth
  // from the start; their times are not. True: the run has finished.
  bool resume_with(std::size_t channel, std::uint64_t depth);

  const Graph& graph() const { return graph_; }
  const Clock& clock() const { return context_.clock; }
  const Node& node(std::size_t i) const { return *nodes_.all[i]; }
  const Channel& channel(std::size_t i) const { return *channels_.all[i]; }
  void set_depth(std::size_t channel, std::uint64_t depth) { channels_.all[channel]->set_depth(depth); }

 private:
  bool go_on();

  Graph graph_;
  Context context_;
  TraceLog log_;
  ChannelScope channels_;
  Nodes nodes_;
};

}  // namespace attnvp::stream
