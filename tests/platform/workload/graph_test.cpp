// Graph files: operations in order, tensors that fit them, views, and what is refused.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "platform/machine/document.h"
#include "platform/machine/error.h"
#include "platform/workload/layers.h"

namespace attnvp::workload {
namespace {

const std::string kTensors =
    "GRAPH:\n"
    "  version: 1\n"
    "  tensors:\n"
    "    x: {shape: [32, 64]}\n"
    "    w: {shape: [192, 64], type: int8}\n"
    "    qkv: {shape: [32, 192]}\n"
    "    q: {shape: [1, 4, 32, 16]}\n"
    "    k: {shape: [1, 4, 32, 16]}\n"
    "    v: {shape: [1, 4, 32, 16]}\n"
    "    o: {shape: [1, 4, 32, 16]}\n"
    "    y: {shape: [32, 64]}\n";
const std::string kQkv = "    - {name: qkv, net: \"gemm:32x192x64\", inputs: [x, w], outputs: [qkv]}\n";
const std::string kAttention = "    - {name: attention, net: \"H=4,N=32,E=16\", inputs: [q, k, v], outputs: [o]}\n";
const std::string kSum = "    - {name: sum, net: \"add:32x64\", inputs: [o, x], outputs: [y]}\n";
const std::string kViews = "  views:\n    - {input: qkv, outputs: [q, k, v]}\n";

OperationGraph graph(const std::string& text) { return read_graph(config::Document::parse(text, "g.yaml"), "g"); }

std::string refusal(const std::string& text) {
  try {
    graph(text);
  } catch (const config::ConfigError& problem) {
    return problem.what();
  }
  return {};
}

TEST(Graph, HasItsOperationsInOrder) {
  const OperationGraph g = graph(kTensors + "  operations:\n" + kQkv + kAttention + kSum + kViews +
                                 "  unsupported:\n    - {name: e, op: Gather, elements: 5, share_of_macs: 0.25}\n");
  ASSERT_EQ(g.operations.size(), 3U);
  EXPECT_EQ(g.name, "g");
  EXPECT_EQ(g.operations[0].workload.gemm()->columns, 192U);
  EXPECT_EQ(g.operations[0].parameters, 192U * 64U);
  EXPECT_EQ(g.operations[1].workload.attention().heads, 4U);
  EXPECT_EQ(g.operations[2].name, "sum");
  ASSERT_EQ(g.unsupported.size(), 1U);
  EXPECT_EQ(g.unsupported[0].operation, "Gather");
  EXPECT_EQ(g.unsupported[0].share_of_macs, 0.25);
}

TEST(Graph, RefusesToReadBeforeWriting) {
  EXPECT_EQ(refusal(kTensors + "  operations:\n" + kAttention + kQkv + kViews),
            "g.yaml:13: operation 'attention' reads tensor 'q' before it is written");
  // Without the view, q, k and v are inputs of the graph.
  EXPECT_EQ(refusal(kTensors + "  operations:\n" + kAttention + kQkv), "");
}

TEST(Graph, PartsOfAConcatenationAreAllNeeded) {
  const std::string both = "  views:\n    - {input: o, outputs: [x]}\n    - {input: qkv, outputs: [x]}\n";
  const std::string read = "    - {name: last, net: \"relu:32x64\", inputs: [x], outputs: [y]}\n";
  const std::string first = "    - {name: first, net: \"relu:32x64\", inputs: [v], outputs: [o]}\n";
  EXPECT_EQ(refusal(kTensors + "  operations:\n" + first + read + both), "");
  EXPECT_EQ(refusal(kTensors + "  operations:\n" + first + read + kQkv + both),
            "g.yaml:14: operation 'last' reads tensor 'x' before it is written");
}

TEST(Graph, RefusesTensorsThatDoNotFit) {
  EXPECT_EQ(refusal(kTensors + "  operations:\n    - {name: p, net: \"gemm:32x96x64\", inputs: [x, w], outputs: "
                               "[qkv]}\n"),
            "g.yaml:13: operation 'p': tensor 'w' has 12288 elements; the operation's has 6144");
  EXPECT_EQ(refusal(kTensors + "  operations:\n    - {name: p, net: \"relu:16x64\", inputs: [x], outputs: [y], "
                               "count: 2}\n"),
            "");
}

TEST(Graph, RefusesUnknownAndDoubleNames) {
  EXPECT_EQ(refusal(kTensors + "  operations:\n    - {name: p, net: \"relu:32x64\", inputs: [xx], outputs: [y]}\n"),
            "g.yaml:13: tensor 'xx' is unknown; did you mean 'x'?");
  EXPECT_EQ(refusal(kTensors + "  operations:\n" + kSum + kSum),
            "g.yaml:14: tensor 'y' is written twice; allowed is once");
  EXPECT_EQ(refusal(kTensors + "  operations: []\n"),
            "g.yaml:12: the graph has no operation to run; allowed is one or more");
  EXPECT_EQ(refusal("GRAPH: {version: 1, tensors: {x: {shape: [1], type: int9}}, operations: []}"),
            "g.yaml:1: type 'int9' is unknown; did you mean 'int8'?");
  EXPECT_EQ(refusal("GRAPH:\n  version: 2\n"), "g.yaml:2: found version '2'; allowed is 1");
}

TEST(Graph, RefusesAGraphAsOperation) {
  const std::string path = testing::TempDir() + "self.yaml";
  std::ofstream(path) << kTensors << "  operations:\n    - {name: p, net: \"" << path
                      << "\", inputs: [x], outputs: [y]}\n";
  try {
    load(path);
    FAIL();
  } catch (const config::ConfigError& problem) {
    EXPECT_NE(std::string(problem.what()).find("a graph within a graph; allowed is one operation"), std::string::npos);
  }
}

}  // namespace
}  // namespace attnvp::workload
