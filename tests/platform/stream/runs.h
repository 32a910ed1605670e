// Runs of streaming graphs for the tests.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "platform/streaming/stream_run.h"
#include "tests/platform/test_files.h"

namespace attnvp::stream {

inline StreamResult run(const Graph& graph, const StreamRunner::StreamOptions& options = {}) {
  return StreamRunner(graph, config::load_energy(graph.energy), 1).run(options);
}
inline StreamResult run(const std::string& name, std::uint32_t n, std::uint32_t d = 1) {
  return run(load_graph(name, n, d));
}

inline std::size_t index_of(const Graph& graph, const std::string& channel) {
  for (std::size_t c = 0; c < graph.channels.size(); ++c) {
    if (graph.channels[c].name == channel) return c;
  }
  ADD_FAILURE() << "no channel " << channel;
  return 0;
}

inline Graph graph_from(const std::string& yaml, std::uint32_t n, std::uint32_t d = 1) {
  const attnvp::testing::TemporaryFolder folder;
  folder.write("graph.yaml", yaml);
  return load_graph("./graph.yaml", n, d);
}

inline std::vector<std::uint64_t> peaks(const StreamResult& result) {
  std::vector<std::uint64_t> all;
  for (const ChannelResult& channel : result.channels) all.push_back(channel.peak);
  return all;
}

}  // namespace attnvp::stream
