// Streaming graphs in YAML (configs/streams): nodes with operation, initiation interval and latency, channels with
// depth. configs/README.md has the keys.
#pragma once

#include <cstdint>
#include <string>

#include "models/stream/graph.h"

namespace attnvp::stream {

inline constexpr std::uint64_t kLargestSequence = 1 << 20;
inline constexpr std::uint64_t kLargestHead = 4096;

// A name under configs/streams or a path, for N = n rows and scores per row and head dimension d. Throws
// config::ConfigError with file and line: unknown keys, operations, nodes and ports; ports that nothing is connected to
// or that take one channel and have two; scalars where vectors go and the like; cycles without a token.
Graph load_graph(const std::string& name_or_path, std::uint32_t n, std::uint32_t d);

// "CHANNEL=DEPTH", the depth as in a graph file; ConfigError naming the option --depth.
void override_depth(Graph& graph, const std::string& assignment);

std::string depth_text(std::uint64_t depth);  // "12" or "unbounded"
// "scalar per score", "vector per row", ...
std::string type_text(const ChannelSpec& channel);
const char* port_name(const Graph& graph, const ChannelSpec& channel, bool from);

}  // namespace attnvp::stream
