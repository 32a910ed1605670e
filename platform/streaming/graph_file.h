// Reader of streaming graphs in YAML (configs/streams): nodes with operation, initiation interval and latency, channels
// with depth. configs/README.md describes the keys.
#pragma once

#include <cstdint>
#include <string>

#include "models/streaming/graph.h"

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

}  // namespace attnvp::stream
