// Operations on each other's results, against the chain in double precision.
#include "platform/run/chain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "explore/layers/layers.h"
#include "platform/machine/document.h"
#include "platform/machine/hardware.h"
#include "platform/run/golden/reference.h"
#include "platform/workload/layers.h"
#include "platform/workload/workload.h"

namespace attnvp::explore {
namespace {

using arith::Half;
using workload::LayerGroup;
using workload::LayerOperation;

// Runs a chain whose machine is the reference that rounds. `change` may alter the result of an operation.
template <typename Change>
std::vector<job::ChainResult> run_rounded(const LayerGroup& group, const Change& change) {
  job::LayerChain chain(group, 7);
  for (std::size_t i = 0; i < group.operations.size(); ++i) {
    const LayerOperation& o = group.operations[i];
    for (std::uint32_t time = 0; time < o.count; ++time) {
      for (bool is_kept = false; !is_kept;) {
        const job::Tensors t = chain.operands(i, time);
        std::vector<Half> result = job::rounded_result(o.workload, t);
        change(o, t, result);
        is_kept = chain.keep(i, time, t, result);
      }
    }
  }
  return chain.check();
}

bool passed(const std::vector<job::ChainResult>& results) {
  return std::all_of(results.begin(), results.end(), [](const job::ChainResult& r) { return r.golden.passed; });
}

LayerGroup layer_of(const std::string& network) { return workload::groups_of(workload::load(network)).front(); }

const std::string kLlama = "H=4,HKV=2,N=32,E=32,causal=1,hidden=128,ffn=256,gated=1,rotary=1,scope=layer";
const std::string kLatent =
    "H=4,N=32,causal=1,hidden=128,ffn=256,gated=1,rotary=1,kv_rank=64,nope_emb=32,rope_emb=16,v_emb=32,scope=layer";
const std::string kExperts = ",experts=8,experts_per_token=3,expert_ffn=64";

// Blocks of Llama 3.1, Gemma 2, DeepSeek V2 (both kinds), BERT and ViT in reduced widths, on a machine.
TEST(LayerChain, OfBlocksIsGolden) {
  const MachineConfig machine = config::load_hardware("edge");
  for (const std::string& network :
       {std::string("llama3.1-8b,N=32,H=4,HKV=2,E=32,hidden=128,ffn=256,scope=layer"),
        std::string("gemma2-9b,N=32,H=4,HKV=2,E=32,hidden=128,ffn=256,scope=layer"), kLatent, kLatent + kExperts,
        std::string("bert-base,N=32,H=4,E=32,hidden=128,ffn=256,scope=layer"),
        std::string("vit-b-16,N=32,H=4,E=32,hidden=128,ffn=256,scope=layer"),
        std::string("llama3.1-8b,phase=decode,batch=3,cache=40,H=4,HKV=2,E=32,hidden=128,ffn=256,scope=layer"),
        std::string("H=4,N=24,E=32,hidden=128,ffn=200,scope=layer,type=int8"),
        std::string("llama3.1-8b,phase=decode,batch=3,cache=40,H=4,HKV=2,E=32,hidden=128,ffn=256,scope=layer,"
                    "type=fp8_e4m3"),
        std::string("llama3.1-8b,phase=decode,batch=3,cache=40,H=4,HKV=2,E=32,hidden=128,ffn=256,scope=layer,"
                    "type=int8,fuse=on"),
        std::string("llama3.1-8b,N=24,H=4,HKV=2,E=32,rotary_emb=16,hidden=128,ffn=256,scope=layer,type=fp8_e5m2"),
        kLatent + kExperts + ",type=int8", kLatent + ",mla=absorbed,cache=16,type=fp8_e4m3"}) {
    SCOPED_TRACE(network);
    const LayerRun run =
        run_layer(machine, workload::load(network), "auto", config::load_energy(machine.energy), LayerOptions());
    ASSERT_FALSE(run.layer().chain.empty());
    EXPECT_TRUE(run.golden_passed());
    for (const job::ChainResult& c : run.layer().chain) {
      EXPECT_TRUE(c.golden.passed) << c.tensor << ": " << c.golden.to_string();
      EXPECT_GT(c.rms_noise, 0) << c.tensor;
      EXPECT_GT(c.rms_error, 0) << c.tensor;
    }
    EXPECT_EQ(run.layer().chain.back().tensor.find("network "), 0U);
  }
}

// Requests of different lengths, two of which share a page; the machine is the reference that rounds.
TEST(LayerChain, TakesRequestsAndPages) {
  workload::Workload w = workload::load(kLlama + ",page=16,pages=8");
  workload::Attention& a = w.attention();
  a.requests = {{4, 32, {0, 1, 2}}, {6, 20, {0, 3}}};
  a.batch = 2;
  a.contexts = {36, 26};
  a.append = true;
  a.mask.queries = a.seq_q = 6;
  a.seq_kv = 36;
  const LayerGroup group = workload::groups_of(w).front();
  std::vector<Half> k, rows;
  const auto results =
      run_rounded(group, [&](const LayerOperation& o, const job::Tensors& t, std::vector<Half>& result) {
        if (o.name == "rotary") rows = result;
        if (o.name == "attention") k = t.k;
      });
  EXPECT_TRUE(passed(results));
  // K: 2 heads of 36 and of 26 keys, of 32 elements. The first 16 keys of both requests are those of page 0.
  ASSERT_EQ(k.size(), std::size_t{2} * (36 + 26) * 32);
  const std::size_t second = std::size_t{2} * 36 * 32;
  EXPECT_TRUE(std::equal(k.begin(), k.begin() + 16 * 32, k.begin() + static_cast<std::ptrdiff_t>(second)));
  // The first new token of the second request is the fifth row of 4 heads of Q and 2 of K.
  const auto token = rows.begin() + (4 * 6 + 4) * 32;
  EXPECT_TRUE(std::equal(token, token + 32, k.begin() + static_cast<std::ptrdiff_t>(second) + 20 * 32));
}

// Codes that a conversion makes are those that its reader multiplies: both have one scale.
TEST(LayerChain, KeepsTheScalesOfConversions) {
  const std::string network = kLlama + ",type=int8,phase=decode,cache=16,batch=2";
  std::map<std::string, float> scales;
  run_rounded(layer_of(network), [&](const LayerOperation& o, const job::Tensors& t, std::vector<Half>&) {
    if (o.name.find("conversion") != std::string::npos) scales[o.name] = t.scales.q;
    if (o.name == "attention") {
      EXPECT_EQ(t.scales.q, scales.at("rotary conversion"));
      EXPECT_EQ(t.scales.k, scales.at("rotary conversion"));
      EXPECT_EQ(t.scales.v, scales.at("v heads conversion"));
    }
    if (o.name == "down") {
      EXPECT_EQ(t.scales.q, scales.at("activation conversion"));
    }
    if (o.workload.gemm() == nullptr) return;
    const job::Quantised kept = job::quantised(o.workload, t);
    for (std::size_t i = 0; i < t.q.size(); ++i) {
      const float code = arith::float_from_half(kept.numbers.q[i]);
      EXPECT_NEAR(arith::float_from_half(t.q[i]), code * t.scales.q, 0.07F * t.scales.q) << o.name;
    }
  });
  EXPECT_EQ(scales.size(), 6U);
}

TEST(LayerChain, FindsAWrongElementOfAnyOperation) {
  for (const std::string& network : {kLlama, kLatent, kLatent + kExperts}) {
    const LayerGroup group = layer_of(network);
    const auto nothing = [](const LayerOperation&, const job::Tensors&, std::vector<Half>&) {};
    EXPECT_TRUE(passed(run_rounded(group, nothing))) << network;
    for (const LayerOperation& wrong : group.operations) {
      const auto change = [&](const LayerOperation& o, const job::Tensors&, std::vector<Half>& result) {
        if (&o == &wrong) result[result.size() - 5] = arith::half_from_float(300);
      };
      EXPECT_FALSE(passed(run_rounded(group, change))) << network << ": " << wrong.name;
    }
  }
}

// Without its rotation every element of Q and K is plausible; the deviation of the whole result shows it.
TEST(LayerChain, FindsAMissingOperation) {
  const auto skip = [](const LayerOperation& o, const job::Tensors& t, std::vector<Half>& result) {
    if (o.name == "rotary") result = t.q;
  };
  EXPECT_FALSE(passed(run_rounded(layer_of(kLlama), skip)));
}

TEST(LayerChain, PassesResultsOnBitForBit) {
  std::vector<Half> activation, sum, last;
  bool has_compared = false;
  run_rounded(layer_of(kLlama), [&](const LayerOperation& o, const job::Tensors& t, std::vector<Half>& result) {
    if (o.name == "activation") activation = result;
    if (o.name == "attention sum") sum = result;
    if (o.name == "down") {
      EXPECT_EQ(t.q, activation);
      last = result;
    }
    if (o.name == "network sum") {
      EXPECT_EQ(t.q, sum);
      EXPECT_EQ(t.k, last);
      has_compared = true;
    }
  });
  EXPECT_TRUE(has_compared);
}

// Token t is in rows t, t + 32 and t + 64 of the experts' results.
TEST(LayerChain, AddsExpertsInRunningSums) {
  std::vector<Half> terms, sums, before;
  run_rounded(layer_of(kLatent + kExperts),
              [&](const LayerOperation& o, const job::Tensors& t, std::vector<Half>& result) {
                if (o.name == "expert down") terms.insert(terms.end(), result.begin(), result.end());
                if (o.name == "expert sum") before = t.q, sums = result;
              });
  const std::size_t block = std::size_t{32} * 128;
  ASSERT_EQ(terms.size(), 3 * block);
  ASSERT_EQ(sums.size(), 2 * block);
  for (std::size_t i = 0; i < block; ++i) {
    const auto number = [](Half x) { return double{arith::float_from_half(x)}; };
    const Half first = arith::half_from_double(number(terms[i]) + number(terms[block + i]));
    ASSERT_EQ(sums[i], first);
    ASSERT_EQ(before[block + i], first);
    ASSERT_EQ(sums[block + i], arith::half_from_double(number(first) + number(terms[2 * block + i])));
  }
}

// Gate and factor are tensors of their own; vectors that a file leaves out are random.
TEST(LayerChain, RunsGraphs) {
  const std::string text =
      "GRAPH:\n  version: 1\n  tensors:\n    x: {shape: [4, 8]}\n    n: {shape: [4, 8]}\n    w: {shape: [16, 8]}\n"
      "    both: {shape: [4, 16]}\n    gate: {shape: [4, 8]}\n    factor: {shape: [4, 8]}\n    y: {shape: [4, 8]}\n"
      "  operations:\n    - {name: norm, net: \"rmsnorm:4x8\", inputs: [x], outputs: [n]}\n"
      "    - {name: up, net: \"gemm:4x16x8\", inputs: [n, w], outputs: [both]}\n"
      "    - {name: act, net: \"swiglu:4x8\", inputs: [factor, gate], outputs: [y]}\n"
      "  views:\n    - {input: both, outputs: [gate, factor]}\n";
  const workload::OperationGraph graph = workload::read_graph(config::Document::parse(text, "g.yaml"), "g");
  std::vector<Half> both;
  const auto compare = [&](const LayerOperation& o, const job::Tensors& t, std::vector<Half>& result) {
    if (o.name == "up") both = result;
    if (o.name != "act") return;
    for (std::size_t i = 0; i < 32; ++i) {
      const std::size_t row = i / 8 * 16, column = i % 8;
      EXPECT_EQ(t.q[row + column], both[row + 8 + column]);  // the file names the factor first
      EXPECT_EQ(t.q[row + 8 + column], both[row + column]);
    }
  };
  const auto results = run_rounded({"g", 1, graph.operations}, compare);
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results.front().tensor, "y");
  EXPECT_TRUE(results.front().golden.passed);
}

}  // namespace
}  // namespace attnvp::explore
