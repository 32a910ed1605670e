// Streaming machine: the nodes and channels of a graph as a SystemC module tree, and its runs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/streaming/node.h"

namespace attnvp::stream {

// Separate scopes of names, since a node may have the name of a channel.
struct Channels : public sc_core::sc_module {
  Channels(sc_core::sc_module_name name, Context& context, const Graph& graph);
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
  struct Outcome {
    bool finished = false;
    std::uint64_t cycles = 0;  // to the last consumed element, or until all nodes are done or blocked
    std::string problem;       // end of time or of host memory, as a sentence; empty: none
  };
  Outcome run(bool traced = false);

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
  Channels channels_;
  Nodes nodes_;
};

}  // namespace attnvp::stream
