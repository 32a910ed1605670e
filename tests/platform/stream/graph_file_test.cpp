// Graph files: what is read, and the sentence for everything that cannot be.
#include "platform/machine/catalog.h"
#include "platform/streaming/stream_run.h"
#include "tests/platform/test_files.h"

namespace attnvp::stream {
namespace {

using attnvp::testing::message_of;
using attnvp::testing::TemporaryFolder;

// Lines 1 to 16. The sum of the scores' exponentials goes nowhere.
const char* const kNodes = R"yaml(nodes:
  q: {op: source, tensor: Q, per: row}
  k: {op: source, tensor: K}
  s: {op: dot}
  e: {op: exp, latency: d, ii: "max(1, N/4)"}
  r: {op: sum}
  end: {op: discard}
channels:
  q: {from: q, to: s.q, depth: 2}
  k: {from: k, to: s.k, depth: N + 1}
  s: {from: s, to: e, depth: unbounded}
  e: {from: e, to: r, depth: 3}
  r: {from: r, to: end, depth: 4}
)yaml";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string complaint(const std::string& text) {
  const TemporaryFolder folder;
  folder.write("g.yaml", text);
  return message_of([] { load_graph("./g.yaml", 8, 4); });
}
std::string complaint(const std::string& from, const std::string& to) { return complaint(replaced(kNodes, from, to)); }

TEST(GraphFile, ReadsNodesChannelsAndTypes) {
  const TemporaryFolder folder;
  folder.write("mine.yaml", kNodes);
  const Graph g = load_graph("./mine.yaml", 8, 4);
  EXPECT_EQ(g.name, "mine");
  ASSERT_EQ(g.nodes.size(), 6U);
  ASSERT_EQ(g.channels.size(), 5U);
  EXPECT_TRUE(g.nodes[0].per_row);
  EXPECT_FALSE(g.nodes[1].per_row);
  EXPECT_EQ(g.nodes[3].latency, 4U);
  EXPECT_EQ(g.nodes[3].ii, 2U);
  EXPECT_FALSE(g.nodes[4].per_row);  // fires per score, sends per row
  EXPECT_TRUE(g.nodes[5].per_row);
  EXPECT_EQ(g.channels[1].depth, 9U);
  EXPECT_EQ(g.channels[2].depth, kUnbounded);
  EXPECT_EQ(type_text(g.channels[0]), "vector per row");
  EXPECT_EQ(type_text(g.channels[1]), "vector per score");
  EXPECT_EQ(type_text(g.channels[2]), "scalar per score");
  EXPECT_EQ(type_text(g.channels[4]), "scalar per row");
  EXPECT_EQ(g.channels[1].width, 4U);
  EXPECT_EQ(g.nodes[2].width, 4U);
  EXPECT_EQ(g.channels[2].width, 1U);
  EXPECT_EQ(g.firings(g.nodes[1]), 64U);
  EXPECT_EQ(g.firings(g.nodes[5]), 8U);
}

TEST(GraphFile, EveryShippedGraphLoadsForManySizes) {
  const auto entries = config::list(config::Folder::kStreams);
  EXPECT_GE(entries.size(), 3U);
  for (const auto& entry : entries) {
    EXPECT_FALSE(entry.description.empty()) << entry.name;
    for (const std::uint32_t n : {1, 2, 1000}) EXPECT_EQ(load_graph(entry.name, n, 64).n, n);
  }
}

TEST(GraphFile, RefusesUnknownWords) {
  EXPECT_EQ(complaint("op: exp", "op: exq"),
            "g.yaml:5: node 'e': key 'op': operation 'exq' is unknown; did you mean 'exp'?");
  EXPECT_EQ(complaint("latency: d", "latncy: d"), "g.yaml:5: key 'latncy' is unknown; did you mean 'latency'?");
  EXPECT_EQ(complaint("to: e,", "to: nowhere,"),
            "g.yaml:11: channel 's': key 'to': node 'nowhere' is unknown; allowed: q, k, s, e, r, end");
  EXPECT_EQ(complaint("to: s.q", "to: s.w"),
            "g.yaml:9: channel 'q': key 'to': node 's', dot, has no input 'w'; allowed: q, k");
  EXPECT_EQ(complaint("to: s.q", "to: s"),
            "g.yaml:9: channel 'q': key 'to': found 's', which has several inputs; allowed: s.q, s.k");
  EXPECT_EQ(complaint("from: r", "from: end"),
            "g.yaml:13: channel 'r': key 'from': node 'end', discard, has no output");
  EXPECT_EQ(complaint("tensor: K", "tensor: W"), "g.yaml:3: node 'k': key 'tensor': found 'W'; allowed: Q, K, V");
  EXPECT_EQ(complaint("per: row", "per: head"), "g.yaml:2: node 'q': key 'per': found 'head'; allowed: row, score");
  EXPECT_EQ(complaint("{op: dot}", "{op: dot, tensor: Q}"),
            "g.yaml:4: node 's': key 'tensor' is for sources, which 'dot' is not");
  EXPECT_EQ(complaint("{op: sum}", "{ii: 2}"), "g.yaml:6: node 'r': key 'op' is missing");
  EXPECT_EQ(complaint(", tensor: K", ""), "g.yaml:3: node 'k': key 'tensor' is missing");
  EXPECT_EQ(complaint(", depth: 3", ""), "g.yaml:12: channel 'e': key 'depth' is missing");
  EXPECT_EQ(complaint("  s: {op", "  5s: {op"),
            "g.yaml:4: node: found '5s' as a name; allowed are letters, digits, '_' and '-', a letter first");
  EXPECT_EQ(complaint("  r: {op", "  e: {op"), "g.yaml:6: node 'e' is given twice, first in line 5");
}

TEST(GraphFile, RefusesNumbersOutOfRange) {
  EXPECT_EQ(complaint("depth: N + 1", "depth: N - 8"),
            "g.yaml:10: channel 'k': key 'depth': found 'N - 8', which is 0 for N=8 and d=4; allowed is 1 to "
            "1125899906842624");
  EXPECT_EQ(complaint("ii: \"max(1, N/4)\"", "ii: 0"),
            "g.yaml:5: node 'e': key 'ii': found '0'; allowed is 1 to 1125899906842624");
  EXPECT_EQ(complaint("depth: 3", "depth: 3, tokens: 4"),
            "g.yaml:12: channel 'e': key 'tokens': found 4; allowed is at most the depth, 3");
  EXPECT_EQ(complaint("depth: 3", "depth: 3, initial: inf"),
            "g.yaml:12: channel 'e': key 'initial': found 'inf'; allowed is a finite number");
  EXPECT_EQ(complaint(std::string("clock: 3 kHz\n") + kNodes),
            "g.yaml:1: the file: key 'clock': found '3 kHz'; allowed is 1 MHz to 100 GHz");
}

TEST(GraphFile, RefusesUnconnectedPorts) {
  EXPECT_EQ(complaint("  k: {from: k, to: s.k, depth: N + 1}\n", ""),
            "g.yaml:3: node 'k': output port 'x' is not connected to a channel");
  EXPECT_EQ(complaint("  e: {from: e, to: r, depth: 3}", "  e: {from: e, to: end, depth: 3}"),
            "g.yaml:6: node 'r': input port 'x' is not connected to a channel");
  EXPECT_EQ(complaint("to: s.k", "to: s.q"),
            "g.yaml:10: channel 'k' leads to s.q, as channel 'q' does; an input takes one channel");
  EXPECT_EQ(complaint(replaced(replaced(kNodes, "{op: discard}", "{op: output}"), "end:", "a: {op: output}\n  end:")),
            "g.yaml:7: node 'a': input port 'x' is not connected to a channel");
}

TEST(GraphFile, RefusesTypesThatDoNotFit) {
  EXPECT_EQ(complaint("op: dot", "op: add"),
            "g.yaml:9: channel 'q': key 'to': node 's', add, has no input 'q'; allowed: x, y");
  const std::string added =
      replaced(replaced(replaced(kNodes, "op: dot", "op: add"), "to: s.q", "to: s.x"), "s.k", "s.y");
  EXPECT_EQ(complaint(added), "g.yaml:11: channel 's' carries vectors; port e.x takes scalars");
  EXPECT_EQ(complaint("op: discard", "op: output"), "g.yaml:13: channel 'r' carries scalars; port end.x takes vectors");
  EXPECT_EQ(complaint("tensor: K", "tensor: K, per: row"),
            "g.yaml:6: node 'r': 'sum' works along a row, and its inputs carry one element per row; one per score is "
            "needed");
  // K per score, straight to the output.
  EXPECT_EQ(
      complaint("nodes:\n  k: {op: source, tensor: K}\n  o: {op: output}\nchannels:\n  k: {from: k, to: o, depth: 1}"),
      "g.yaml:5: channel 'k' carries an element per score; port o.x takes one per row");
  EXPECT_EQ(complaint("nodes:\n  k: {op: source, tensor: K}\n  s: {op: dot}\n  a: {op: add}\n  end: {op: discard}\n"
                      "channels:\n  q: {from: k, to: s.q, depth: 1}\n  k: {from: k, to: s.k, depth: 1}\n"
                      "  x: {from: s, to: a.x, depth: 1}\n  y: {from: k, to: a.y, depth: 1}\n"
                      "  z: {from: a, to: end, depth: 1}"),
            "g.yaml:10: channel 'y' carries vectors, channel 'x' scalars; node 'a' takes the same from both");
}

const char* const kCycle =
    "nodes:\n  k: {op: source, tensor: K}\n  s: {op: dot}\n  a: {op: add}\n  b: {op: exp}\n  end: {op: discard}\n"
    "channels:\n  q: {from: k, to: s.q, depth: 1}\n  k: {from: k, to: s.k, depth: 1}\n"
    "  x: {from: s, to: a.x, depth: 1}\n  z: {from: a, to: b, depth: 1}\n"
    "  y: {from: b, to: a.y, depth: 1}\n  end: {from: b, to: end, depth: 1}\n";

TEST(GraphFile, RefusesACycleWithoutAToken) {
  EXPECT_EQ(complaint(kCycle),
            "g.yaml:12: channel 'y' closes the cycle a -> b -> a, in which no channel starts with a token; give one "
            "'tokens: 1'");
  const TemporaryFolder folder;
  folder.write("g.yaml", replaced(kCycle, "a.y, depth: 1", "a.y, depth: 2, tokens: 1, initial: -1.5"));
  const Graph g = load_graph("./g.yaml", 8, 4);
  EXPECT_EQ(g.channels[4].tokens, 1U);
  EXPECT_EQ(g.channels[4].initial, -1.5F);
}

TEST(GraphFile, RefusesWhatNoSourceLeadsTo) {
  EXPECT_EQ(complaint("nodes:\n  a: {op: exp}\nchannels:\n  x: {from: a, to: a, depth: 1, tokens: 1}"),
            "g.yaml:4: channel 'x' carries nothing: no source leads to it");
  EXPECT_EQ(complaint("nodes: {}\nchannels: {}"), "g.yaml:1: key 'nodes' holds nothing");
  EXPECT_EQ(complaint("channels:\n  a: {}"), "g.yaml: key 'nodes' is missing");
  EXPECT_EQ(complaint("nodes: 5"), "g.yaml:1: key 'nodes' must be a map of keys, found '5'");
  EXPECT_EQ(complaint("nodes:\n  a: source"), "g.yaml:2: node 'a' must be a map of keys, found 'source'");
}

TEST(GraphFile, ThePageHasEveryOperation) {
  const std::string page = attnvp::testing::read_file(config::config_root() + "/../docs/explanation/streaming.md");
  for (const StreamOperation& operation : operations()) {
    EXPECT_NE(page.find("`" + std::string(operation.name) + "`"), std::string::npos) << operation.name;
  }
}

TEST(GraphFile, DepthsAreOverridden) {
  Graph g = load_graph("naive", 64, 1);
  override_depth(g, "long=N + 16");
  EXPECT_EQ(g.channels[4].depth, 80U);
  override_depth(g, "long=unbounded");
  EXPECT_EQ(g.channels[4].depth, kUnbounded);
  EXPECT_EQ(message_of([&] { override_depth(g, "lonk=3"); }),
            "--depth lonk=3: channel 'lonk' is unknown; did you mean 'long'?");
  EXPECT_EQ(message_of([&] { override_depth(g, "long"); }),
            "--depth long: has no '='; allowed is CHANNEL=DEPTH, such as long=64 or long=N+16");
  EXPECT_EQ(message_of([&] { override_depth(g, "long=0"); }),
            "--depth long=0: found '0'; allowed is 1 to 1125899906842624");
}

}  // namespace
}  // namespace attnvp::stream
