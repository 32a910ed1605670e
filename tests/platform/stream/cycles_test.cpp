// Cycles and peaks of the shipped graphs against the paper's machine.
//
// Naive: the first score is taken from its source at 1, summed at 12 and every two cycles from then on; the last row's
// sum is there at 12 + 2 (N^2 - 1) + 23, its first quotient 8 later, its N quotients are multiplied every two cycles,
// the last result comes 13 later: 2 N^2 + 2 N + 52. Memory-free: 1 + 11 + 3 for the first score, 2 (N^2 - 1) to the
// last one, then 12 and 21: 2 N^2 + 46.
#include <algorithm>

#include "tests/platform/stream/runs.h"

namespace attnvp::stream {
namespace {

std::uint64_t naive_cycles(std::uint64_t n) { return 2 * n * n + 2 * n + 52; }
std::uint64_t memory_free_cycles(std::uint64_t n) { return 2 * n * n + 46; }

void expect_exact(std::uint32_t n) {
  SCOPED_TRACE(n);
  const StreamResult naive = run("naive", n), memory_free = run("memory-free", n);
  EXPECT_EQ(naive.cycles, naive_cycles(n));
  EXPECT_EQ(memory_free.cycles, memory_free_cycles(n));
  EXPECT_TRUE(naive.golden.checked && naive.golden.passed) << naive.golden.to_string();
  EXPECT_TRUE(memory_free.golden.checked && memory_free.golden.passed) << memory_free.golden.to_string();
}

TEST(StreamCycles, AreExactForEveryShortSequence) {
  for (std::uint32_t n = 1; n <= 128; ++n) expect_exact(n);
}

TEST(StreamCycles, AreThePapersForLongSequences) {
  EXPECT_EQ(naive_cycles(512), 525364U);
  EXPECT_EQ(naive_cycles(1024), 2099252U);
  EXPECT_EQ(naive_cycles(2048), 8392756U);
  EXPECT_EQ(memory_free_cycles(512), 524334U);
  EXPECT_EQ(memory_free_cycles(1024), 2097198U);
  for (const std::uint32_t n : {512, 1024, 2048}) expect_exact(n);
}

TEST(StreamCycles, DoNotDependOnTheHeadDimension) {
  for (const char* name : {"naive", "memory-free", "safe-softmax"}) {
    const std::uint64_t cycles = run(name, 37).cycles;
    for (const std::uint32_t d : {2, 16, 64}) {
      const StreamResult result = run(name, 37, d);
      EXPECT_EQ(result.cycles, cycles) << name << " " << d;
      EXPECT_TRUE(result.golden.checked && result.golden.passed) << name << " " << d << result.golden.to_string();
    }
  }
}

TEST(StreamCycles, BoundedFifosCostNothing) {
  for (const char* name : {"naive", "memory-free", "safe-softmax"}) {
    for (const std::uint32_t n : {1, 2, 3, 16, 64, 129}) {
      Graph graph = load_graph(name, n, 1);
      const std::uint64_t bounded = run(graph).cycles;
      for (ChannelSpec& channel : graph.channels) channel.depth = kUnbounded;
      EXPECT_EQ(run(graph).cycles, bounded) << name << " " << n;
    }
  }
}

TEST(StreamCycles, DepthOfTheLongFifo) {
  StreamRunner runner(load_graph("naive", 64, 1), config::load_energy("pat"), 1);
  const std::size_t channel = index_of(load_graph("naive", 64, 1), "long");
  const auto cycles_at = [&](std::uint64_t depth) {
    runner.set_depth(channel, depth);
    const StreamResult result = runner.run({});
    EXPECT_FALSE(result.deadlocked) << depth;
    EXPECT_TRUE(result.golden.passed) << depth;
    return result.cycles;
  };
  EXPECT_EQ(cycles_at(64), 10388U);
  EXPECT_EQ(cycles_at(72), 9380U);
  EXPECT_GT(cycles_at(79), 8372U);
  for (const std::uint64_t depth : {80, 81, 98, 1000}) EXPECT_EQ(cycles_at(depth), 8372U) << depth;
}

// With S scores of which a row has m_i: memory-free has one every two cycles, 2 S + 46. Naive: row i's sum is there
// when its last score is, and then its quotients need two cycles each, behind those of the rows before: the last one
// ends at the greatest of 2 S_i + 2 (S - S_(i-1)), S_i those up to row i, which is 2 S + 2 m for the longest row m: 2 S
// + 2 m + 52.
TEST(StreamCycles, UnderAMask) {
  const auto check = [](std::uint32_t n, const hal::Mask& mask) {
    SCOPED_TRACE(::testing::Message() << n << " causal " << mask.causal << " window " << mask.window << " sinks "
                                      << mask.sinks);
    std::uint64_t scores = 0, longest = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      std::uint64_t row = 0;
      for (std::uint32_t j = 0; j < n; ++j) {
        const bool near = mask.window == 0 || (i < j ? j - i : i - j) < mask.window || j < mask.sinks;
        if (near && (mask.causal == 0 || j <= i)) ++row;
      }
      scores += row;
      longest = std::max(longest, row);
    }
    for (const char* name : {"naive", "memory-free", "safe-softmax"}) {
      Graph graph = load_graph(name, n, 4);
      graph.mask = mask;
      EXPECT_EQ(graph.scores(), scores);
      const StreamResult r = run(graph);
      EXPECT_FALSE(r.deadlocked) << name;
      EXPECT_TRUE(r.golden.checked && r.golden.passed) << name << " " << r.golden.to_string();
      if (std::string(name) == "naive") {
        EXPECT_EQ(r.cycles, 2 * scores + 2 * longest + 52);
      }
      if (std::string(name) == "memory-free") {
        EXPECT_EQ(r.cycles, 2 * scores + 46);
      }
    }
  };
  for (const std::uint32_t n : {1U, 2U, 3U, 7U, 16U, 33U, 64U, 100U}) {
    check(n, {1, 0, 0, n, 0, 0, 0, 0});
    for (const std::uint32_t window : {1U, 2U, 5U, 20U, 200U}) {
      for (const std::uint32_t sinks : {0U, 3U}) {
        check(n, {1, 0, 0, n, 0, window, std::min(sinks, n), 0});
        check(n, {0, 0, 0, n, 0, window, std::min(sinks, n), 0});
      }
    }
  }
  // Causal: half of the square and its diagonal.
  Graph graph = load_graph("memory-free", 512, 1);
  graph.mask = {1, 0, 0, 512, 0, 0, 0, 0};
  EXPECT_EQ(run(graph).cycles, 512U * 513 + 46);
}

// Every latency and interval 1: N + 2 elements are under way when the row's sum is there.
TEST(StreamCycles, UnitTimesNeedTwoMoreThanARow) {
  for (const std::uint32_t n : {1, 2, 7, 64}) {
    Graph graph = load_graph("naive", n, 1);
    for (NodeSpec& node : graph.nodes) node.ii = node.latency = 1;
    ChannelSpec& longest = graph.channels[index_of(graph, "long")];
    const std::uint64_t full_rate = std::uint64_t{n} * n + n + 3;
    longest.depth = n + 2;
    EXPECT_EQ(run(graph).cycles, full_rate) << n;
    longest.depth = n + 1;
    EXPECT_EQ(run(graph).cycles > full_rate, n > 1) << n;
  }
}

// Rows follow each other every 2 N cycles. r and o wait for o's 12, quotients for their 21; from N = 11 on those are
// gone before the next come, and peaks depend on N no more. Of fewer elements than a FIFO has slots no more can be in
// it.
TEST(StreamPeaks, OfTheMemoryFreeGraphDoNotDependOnN) {
  for (std::uint64_t n = 1; n <= 128; ++n) {
    const auto per_score = [n](std::uint64_t depth) { return std::min(n * n, depth); };
    const auto per_row = [n](std::uint64_t cycles) { return std::min(n, cycles / (2 * n) + 1); };
    const std::uint64_t two = per_score(2), q = std::min<std::uint64_t>(n, 2);
    const std::vector<std::uint64_t> expected{q,   two, two,         per_score(12), two,        two,
                                              two, two, per_row(12), per_row(12),   per_row(21)};
    EXPECT_EQ(peaks(run("memory-free", static_cast<std::uint32_t>(n))), expected) << n;
    if (n >= 11) {
      EXPECT_EQ(expected, (std::vector<std::uint64_t>{2, 2, 2, 12, 2, 2, 2, 2, 1, 1, 1})) << n;
    }
  }
}

TEST(StreamPeaks, OfTheNaiveGraphGrowWithN) {
  const std::size_t channel = index_of(load_graph("naive", 4, 1), "long");
  // The score taken 13 behind the sum is 2 N + 47 cycles under way at one per two cycles.
  for (const std::uint32_t n : {64, 128, 512}) EXPECT_EQ(run("naive", n).channels[channel].peak, n + 24) << n;
}

TEST(StreamPeaks, AreWhatIsNeeded) {
  for (const char* name : {"naive", "safe-softmax"}) {
    Graph graph = load_graph(name, 50, 1);
    const StreamResult before = run(graph);
    for (std::size_t c = 0; c < graph.channels.size(); ++c) graph.channels[c].depth = before.channels[c].peak;
    const StreamResult after = run(graph);
    EXPECT_EQ(after.cycles, before.cycles);
    EXPECT_EQ(peaks(after), peaks(before));
  }
}

}  // namespace
}  // namespace attnvp::stream
