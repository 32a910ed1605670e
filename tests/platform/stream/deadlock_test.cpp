// Deadlocks: found, explained, and freed by the smallest depth.
#include <fmt/format.h>

#include "platform/streaming/stream_run.h"
#include "tests/platform/stream/runs.h"

namespace attnvp::stream {
namespace {

TEST(StreamDeadlock, BelowNTheNaiveGraphStopsAtOnce) {
  const Graph graph = load_graph("naive", 64, 1);
  const std::size_t channel = index_of(graph, "long");
  StreamRunner runner(graph, config::load_energy("pat"), 1);
  for (std::uint64_t depth = 1; depth < 64; ++depth) {
    runner.set_depth(channel, depth);
    const StreamResult result = runner.run({});
    ASSERT_TRUE(result.deadlocked) << depth;
    EXPECT_FALSE(result.golden.checked);
    EXPECT_EQ(result.channels[channel].peak, depth);
    const std::vector<std::pair<std::size_t, std::uint64_t>> freed{{channel, 64}};
    EXPECT_EQ(result.deadlock.freed_by, freed) << depth;
    EXPECT_EQ(result.deadlock.freed_cycles, 10388U);
  }
  // The runs that looked for the depth left nothing behind.
  runner.set_depth(channel, 98);
  EXPECT_EQ(runner.run({}).cycles, 8372U);
}

TEST(StreamDeadlock, SaysWhoWaitsForWhatSinceWhen) {
  Graph graph = load_graph("naive", 8, 1);
  graph.channels[index_of(graph, "long")].depth = 5;
  const StreamResult result = run(graph);
  ASSERT_TRUE(result.deadlocked);
  // score takes the first score at 1 and the sixth, for which there is no room, at 6; row_sum took the fifth at
  // 12 + 2 * 4 and could take another at 22. With a depth of N each row but the first waits 32 cycles more than the
  // 2 N^2 + 2 N + 52 = 196 of all.
  EXPECT_EQ(
      deadlock_sentence(result),
      "deadlock at cycle 22: score waits for room in 'long' since cycle 6, div waits for data from 'sum' since cycle "
      "0, row_sum waits for data from 'short' since cycle 22; smallest depth that frees it: long=8, 420 cycles then");
  EXPECT_NE(to_text(result).find("circle       score -> div -> row_sum -> score\n"), std::string::npos);
  const std::string dot = to_dot(result);
  EXPECT_NE(dot.find("\"score\" -> \"div\" [label=\"long\\ndepth 5, peak 5, full\", color=red, fontcolor=red]"),
            std::string::npos);
}

TEST(StreamDeadlock, TwoChannelsTogether) {
  Graph graph = load_graph("safe-softmax", 16, 1);
  const std::size_t s = index_of(graph, "s_long"), e = index_of(graph, "e_long");
  graph.channels[s].depth = 3;
  graph.channels[e].depth = 4;
  const StreamResult result = run(graph);
  ASSERT_TRUE(result.deadlocked);
  ASSERT_EQ(result.deadlock.freed_by.size(), 2U);
  const auto deadlocked_with = [&](std::uint64_t s_depth, std::uint64_t e_depth) {
    graph.channels[s].depth = s_depth;
    graph.channels[e].depth = e_depth;
    StreamRunner::StreamOptions options;
    options.explain = false;
    return run(graph, options).deadlocked;
  };
  const std::uint64_t s_depth = result.deadlock.freed_by[0].second, e_depth = result.deadlock.freed_by[1].second;
  EXPECT_EQ(s_depth, 16U);
  EXPECT_EQ(e_depth, 16U);
  EXPECT_FALSE(deadlocked_with(s_depth, e_depth));
  EXPECT_TRUE(deadlocked_with(s_depth - 1, e_depth));
  EXPECT_TRUE(deadlocked_with(s_depth, e_depth - 1));
}

}  // namespace
}  // namespace attnvp::stream
