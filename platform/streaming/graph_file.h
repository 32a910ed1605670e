// Reader of streaming graphs in YAML (configs/streams): nodes with operation, initiation interval and latency, channels
// with depth; and the checks of what was read. configs/README.md describes the keys.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/streaming/graph.h"
#include "platform/machine/error.h"

namespace attnvp::stream {

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

}  // namespace attnvp::stream
