// A streaming machine: the nodes and channels of a graph as one SystemC module tree, and the runs on it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/stream/node.h"

namespace attnvp::stream {

// A scope of names, as a node may be called like a channel.
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
  // q, k, v and o are N x D, row-major, and outlive the machine. Only one machine may exist at a time.
  Machine(sc_core::sc_module_name name, const Graph& graph, float* q, float* k, float* v, float* o);

  // From the start, with the depths as they are, until every node is done or none can go on. SystemC time then has
  // moved on by the run's cycles, signals with it.
  struct Outcome {
    bool finished = false;
    std::uint64_t cycles = 0;  // to the last element consumed; or until every node is done or waits
    std::string problem;       // not empty: not a deadlock, but the end of time or of the host's memory; a sentence
  };
  Outcome run(bool traced = false);

  // Only from a run that did not finish: more room in one channel, then on with it. The elements that get through are
  // those of a run that had the room from the start; the times are not. True when it finished.
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
