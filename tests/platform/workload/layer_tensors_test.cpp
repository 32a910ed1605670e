// Tensors between the operations of layers and graphs: names, views and numbers of elements.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "platform/machine/document.h"
#include "platform/run/operations.h"
#include "platform/workload/layers.h"

namespace attnvp::workload {
namespace {

// Elements of an operation's inputs, all times together.
std::vector<std::uint64_t> elements_of(const LayerOperation& o) {
  std::vector<std::uint64_t> all;
  if (o.workload.is_attention()) {
    const Attention& a = o.workload.attention();
    all = {a.query_elements(), a.key_elements(), a.value_elements()};
  } else {
    const job::Operands operands = job::operands_of(o.workload);
    all = {operands.q, operands.k, operands.v};
    if (const RowOperation* r = o.workload.rows(); r != nullptr && r->opcode == hal::Opcode::kSoftmax) {
      all = {r->elements(), 0, 0};
    }
  }
  while (all.back() == 0) all.pop_back();
  for (std::uint64_t& elements : all) elements *= o.count;
  return all;
}

// Whether an input of a layer's group may be read: weights, vectors, caches, first inputs.
bool is_given(const std::string& name) {
  for (const char* end : {" weights", " gamma", " beta", " angles", " cache", " state", "pixels", "token rows",
                          "position rows", "encoder rows", "sound"}) {
    const std::string word = end;
    if (name.size() >= word.size() && name.compare(name.size() - word.size(), word.size(), word) == 0) return true;
  }
  return false;
}

std::uint64_t last_index(std::uint64_t at, const StridedCopy& copy, const std::array<std::uint64_t, 4>& stride) {
  for (std::size_t d = 0; d < 4; ++d) at += (copy.extent[d] - 1) * stride[d];
  return at;
}

// Follows the tensors of a group; every element of a view that a copy reads or writes exists.
void follow(const LayerGroup& group, const std::string& what) {
  std::map<std::string, std::uint64_t> known;  // elements of tensors that operations and views write
  for (const LayerOperation& o : group.operations) {
    SCOPED_TRACE(what + ": " + o.name);
    ASSERT_EQ(o.outputs.size(), 1U);
    const std::uint64_t result = o.workload.result_elements() * o.count;
    for (const TensorView& v : o.views) {
      for (const StridedCopy& c : v.parts) {
        if (c.extent[0] * c.extent[1] * c.extent[2] * c.extent[3] == 0) continue;
        EXPECT_LT(last_index(c.to, c, c.to_stride), v.elements) << v.output;
        const std::uint64_t last = last_index(c.from, c, c.from_stride);
        const auto input = known.find(c.input);
        if (c.input == o.outputs.front()) {  // running sums
          EXPECT_LT(last, result) << v.output;
        } else if (input == known.end()) {
          EXPECT_TRUE(is_given(c.input)) << c.input;
        } else {
          EXPECT_LT(last, input->second) << v.output << " of " << c.input;
        }
      }
      EXPECT_TRUE(known.emplace(v.output, v.elements).second) << v.output << " is made twice";
    }
    const std::vector<std::uint64_t> expected = elements_of(o);
    ASSERT_EQ(o.inputs.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const auto input = known.find(o.inputs[i]);
      if (input == known.end()) {
        EXPECT_TRUE(is_given(o.inputs[i])) << o.inputs[i];
      } else {
        EXPECT_EQ(input->second, expected[i]) << o.inputs[i];
      }
    }
    EXPECT_TRUE(known.emplace(o.outputs.front(), result).second) << o.outputs.front() << " is written twice";
  }
}

TEST(LayerTensors, FitAcrossTheOperations) {
  const std::string shape = "H=4,HKV=2,N=24,E=16,hidden=64,ffn=96,layers=2,vocabulary=50";
  for (const std::string& net :
       {std::string("bert-base,N=8,scope=model"), std::string("vit-b-16,N=8,scope=model"),
        std::string("gemma2-9b,N=8,scope=model"), std::string("qwen3-8b,N=8,scope=model"),
        std::string("xlm,N=8,scope=layer"), std::string("llama3.1-8b,phase=decode,batch=3,cache=99,scope=model"),
        std::string("deepseek-v3,N=16,scope=model,mla=plain"),
        std::string("deepseek-v3,phase=decode,cache=40,batch=2,scope=model"), shape + ",scope=model,gated=1,rotary=1",
        shape + ",scope=model,causal=1,blocks=1*encoder+1*cross,encoder=10,batch=2,mel_bins=6,positions=24",
        shape + ",scope=model,blocks=1*encoder+1*cross,encoder=1,mel_bins=6,norm_place=post",
        shape + ",scope=model,blocks=1*encoder+1*cross,encoder=10,batch=3,phase=decode",
        shape + ",scope=model,gated=1,rotary=1,type=int8",
        std::string("deepseek-v3,phase=decode,cache=40,batch=2,scope=model,type=fp8_e4m3"),
        std::string("llama3.1-8b,phase=decode,batch=3,cache=99,scope=model,type=int8"),
        shape + ",scope=layer,linear=1,gated=1,order=parallel", shape + ",scope=layer,order=parallel-norms,batch=2"}) {
    for (const LayerGroup& g : groups_of(load(net))) follow(g, net + ", " + g.name);
  }
}

// Dense layers: who reads whose result.
TEST(LayerTensors, NameTheFlowOfALayer) {
  std::string text;
  for (const LayerOperation& o : operations_of(load("H=2,N=8,E=16,hidden=32,ffn=64,gated=1,rotary=1,scope=layer"))) {
    for (const std::string& input : o.inputs) text += input + ", ";
    text += "-> " + o.outputs.front() + "\n";
  }
  EXPECT_EQ(text,
            "hidden state, attention norm gamma, -> attention norm\n"
            "attention norm, qkv weights, -> qkv\n"
            "rotary input, rotary angles, -> rotary\n"
            "q heads, k heads, v heads, -> attention\n"
            "attention rows, out weights, -> out\n"
            "hidden state, out, -> attention sum\n"
            "attention sum, network norm gamma, -> network norm\n"
            "network norm, gate, up weights, -> gate, up\n"
            "gate, up, -> activation\n"
            "activation, down weights, -> down\n"
            "attention sum, down, -> network sum\n");
}

// Whole tensors once, and what attention takes of others; the FP16 tensors that sums read stay.
TEST(LayerTensors, AreConvertedForShortTypes) {
  const auto conversions = [](const std::string& net) {
    std::string text;
    for (const LayerOperation& o : operations_of(load(net))) {
      const RowOperation* const r = o.workload.rows();
      if (r == nullptr || r->opcode != hal::Opcode::kConvert) continue;
      text += o.name.substr(0, o.name.find(" conversion")) + " " + std::to_string(r->elements()) + "; ";
    }
    return text;
  };
  const std::string layer = "H=2,HKV=1,N=8,E=16,hidden=32,ffn=64,scope=layer,type=int8";
  EXPECT_EQ(conversions(layer), "attention norm 256; qkv 512; attention 256; network norm 256; activation 512; ");
  // V is the last of 4 heads, and the others are rotated.
  EXPECT_EQ(conversions(layer + ",rotary=1"),
            "attention norm 256; rotary 384; v heads 128; attention 256; network norm 256; activation 512; ");
  // Both products read one norm; the state that enters a layer without a first norm is converted, too.
  EXPECT_EQ(conversions(layer + ",order=parallel"), "attention norm 256; qkv 512; attention 256; activation 512; ");
  EXPECT_EQ(conversions(layer + ",norm_place=post"),
            "hidden state 256; qkv 512; attention 256; attention norm 256; activation 512; ");
  // The cache has the type.
  EXPECT_EQ(conversions("H=2,HKV=1,E=16,hidden=32,ffn=64,scope=layer,type=int8,phase=decode,cache=50,batch=3"),
            "attention norm 96; qkv 192; attention 96; network norm 96; activation 192; ");
  EXPECT_EQ(conversions(layer + ",linear=1"), "");
  EXPECT_EQ(conversions("H=2,N=8,E=16,hidden=32,ffn=64,scope=layer,type=bf16"), "");
}

// Columns 0-3 of rows of 8 are heads of Q, and so on; with a cache new tokens are the last keys.
TEST(LayerTensors, OfHeadsAreColumnsOfRows) {
  const auto all = operations_of(load("H=2,HKV=1,N=2,E=2,hidden=4,ffn=4,scope=layer,norm=none"));
  const LayerOperation& o = all[1];
  ASSERT_EQ(o.name, "attention");
  const auto indices = [&](std::size_t v) {  // in the product's result, for each element
    std::vector<int> from(o.views[v].elements, -1);
    for (const StridedCopy& c : o.views[v].parts) {
      if (c.input != "qkv") continue;
      for (std::uint64_t h = 0; h < c.extent[1]; ++h) {
        for (std::uint64_t n = 0; n < c.extent[2]; ++n) {
          for (std::uint64_t e = 0; e < c.extent[3]; ++e) {
            from[c.to + h * c.to_stride[1] + n * c.to_stride[2] + e] =
                static_cast<int>(c.from + h * c.from_stride[1] + n * c.from_stride[2] + e);
          }
        }
      }
    }
    return from;
  };
  EXPECT_EQ(indices(0), (std::vector<int>{0, 1, 8, 9, 2, 3, 10, 11}));
  EXPECT_EQ(indices(1), (std::vector<int>{4, 5, 12, 13}));
  EXPECT_EQ(indices(2), (std::vector<int>{6, 7, 14, 15}));
}

TEST(LayerTensors, OfGraphsAreThoseOfTheFile) {
  const std::string text =
      "GRAPH:\n  version: 1\n  tensors:\n    x: {shape: [2, 4]}\n    w: {shape: [12, 4]}\n    qkv: {shape: [2, 12]}\n"
      "    q: {shape: [1, 2, 2, 2]}\n    k: {shape: [1, 2, 2, 2]}\n    v: {shape: [1, 2, 2, 2]}\n"
      "    o: {shape: [1, 2, 2, 2]}\n    rows: {shape: [2, 4]}\n    y: {shape: [2, 4]}\n"
      "  operations:\n    - {name: qkv, net: \"gemm:2x12x4\", inputs: [x, w], outputs: [qkv]}\n"
      "    - {name: attention, net: \"H=2,N=2,E=2\", inputs: [q, k, v], outputs: [o]}\n"
      "    - {name: sum, net: \"add:2x4\", inputs: [rows, x], outputs: [y]}\n"
      "  views:\n    - {input: qkv, outputs: [q, k, v]}\n    - {input: o, outputs: [rows]}\n";
  const OperationGraph g = read_graph(config::Document::parse(text, "g.yaml"), "g");

  EXPECT_EQ(g.operations[1].inputs, (std::vector<std::string>{"q", "k", "v"}));
  EXPECT_EQ(g.operations[1].outputs, (std::vector<std::string>{"o"}));
  ASSERT_EQ(g.operations[1].views.size(), 3U);
  const StridedCopy& k = g.operations[1].views[1].parts.front();
  EXPECT_EQ(k.input, "qkv");
  EXPECT_EQ(k.from, 4U);  // columns 4-7 of rows of 12
  EXPECT_EQ(k.from_stride, (std::array<std::uint64_t, 4>{24, 2, 12, 1}));
  EXPECT_EQ(k.to_stride, (std::array<std::uint64_t, 4>{8, 4, 2, 1}));
  ASSERT_EQ(g.operations[2].views.size(), 1U);
  EXPECT_EQ(g.operations[2].views[0].parts.front().from_stride, (std::array<std::uint64_t, 4>{8, 4, 2, 1}));
}

}  // namespace
}  // namespace attnvp::workload
