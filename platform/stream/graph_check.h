// What must hold for a graph, beyond its syntax. Each throws config::ConfigError with file and line.
#pragma once

#include <vector>

#include "models/stream/graph.h"
#include "platform/config/error.h"

namespace attnvp::stream {

struct Draft {
  Graph graph;
  config::Origin file;
  std::vector<config::Origin> node_at, channel_at;  // as graph.nodes, graph.channels
};

// Every input port has one channel, every output port at least one; there is at most one `output`.
void check_connections(const Draft& draft);

// Finds what each channel carries and how often each node fires, and fills in widths and rates.
void infer_types(Draft& draft);

// Every cycle of channels has one that starts with a token, without which none of its nodes could ever begin.
void check_cycles(const Draft& draft);

}  // namespace attnvp::stream
