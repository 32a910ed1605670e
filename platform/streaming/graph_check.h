// Semantic checks of a streaming graph. Each throws config::ConfigError with file and line.
#pragma once

#include <vector>

#include "models/streaming/graph.h"
#include "platform/machine/error.h"

namespace attnvp::stream {

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

}  // namespace attnvp::stream
