// Row operations fused with the products of a layer: which are, that results are golden, and traffic by a count by
// hand.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "explore/layers/layers.h"
#include "platform/machine/hardware.h"
#include "platform/run/operations.h"
#include "platform/workload/layer/layer.h"
#include "platform/workload/workload.h"
#include "tests/platform/product_count.h"
#include "tests/support/tuned.h"

namespace attnvp::explore {
namespace {

LayerRun run(const std::string& hardware, const std::string& network, bool full) {
  const MachineConfig machine = config::load_hardware(hardware);
  LayerOptions options;
  options.full = full;
  options.tuning = runs::few_evaluations();
  return run_layer(machine, workload::load(network), "auto", config::load_energy(machine.energy), options);
}

std::string names_of(const std::string& network) {
  std::string text;
  for (const workload::LayerOperation& o : workload::operations_of(workload::load(network))) {
    text += fmt::format("{}{}", text.empty() ? "" : "; ", o.name);
  }
  return text;
}

TEST(Fusion, IsOffByDefault) {
  EXPECT_EQ(names_of("llama3.1-8b,scope=layer"), names_of("llama3.1-8b,scope=layer,fuse=off"));
  EXPECT_EQ(names_of("llama3.1-8b,scope=layer").find(" + "), std::string::npos);
}

TEST(Fusion, IncludesWhatIsBesideProducts) {
  EXPECT_EQ(names_of("llama3.1-8b,scope=layer,fuse=on"),
            "rmsnorm + qkv + rope; attention; out + sum; rmsnorm + gate, up + swiglu; down + sum");
  EXPECT_EQ(names_of("bert-base,scope=layer,fuse=on"),
            "qkv; attention; out + sum; attention norm; up + gelu; down + sum; network norm");
  // Norms of heads precede the rotary embedding; norms behind products are no part of them.
  EXPECT_EQ(names_of("qwen3-8b,scope=layer,fuse=on"),
            "rmsnorm + qkv; q, k norm; rotary; attention; out + sum; rmsnorm + gate, up + swiglu; down + sum");
  EXPECT_EQ(names_of("gemma2-9b,scope=layer,fuse=on"),
            "rmsnorm + qkv + rope; attention; out; attention out norm; attention sum; "
            "rmsnorm + gate, up + geglu_tanh; down; network out norm; network sum");
  // Two products read one norm.
  const std::string parallel = "H=2,N=8,E=16,hidden=32,ffn=64,scope=layer,fuse=on,order=parallel";
  EXPECT_EQ(names_of(parallel), "attention norm; qkv; attention; up + gelu; out + sum; down + sum");
  // All experts with tokens, and the shared ones.
  const std::string experts =
      "H=2,N=8,E=16,hidden=32,ffn=64,gated=1,experts=4,experts_per_token=2,shared_ffn=16,scope=layer,fuse=on";
  EXPECT_NE(names_of(experts).find("expert gather; expert gate, up + swiglu; "), std::string::npos)
      << names_of(experts);
  EXPECT_EQ(names_of(experts).find("expert activation"), std::string::npos);
  // Conversions to FP8; the scale of INT8 is known only after the product.
  EXPECT_EQ(names_of("llama3.1-8b,scope=layer,fuse=on,type=fp8_e4m3"),
            "attention norm; attention norm conversion; qkv + rope; rotary conversion; v heads conversion; attention; "
            "attention conversion; out + sum; network norm; network norm conversion; gate, up + swiglu + convert; "
            "down + sum");
  EXPECT_NE(names_of("llama3.1-8b,scope=layer,fuse=on,type=int8").find("; activation conversion; "), std::string::npos);
  // Results of BF16 are rounded by the arrays.
  EXPECT_EQ(names_of("bert-base,scope=layer,fuse=on,type=bf16"), names_of("bert-base,scope=layer,type=bf16"));
}

TEST(Fusion, KeepsParametersAndTensors) {
  for (const char* network : {"llama3.1-8b", "bert-base", "gemma2-9b", "vit-b-16"}) {
    const workload::Workload apart = workload::load(std::string(network) + ",scope=layer"),
                             fused = workload::load(std::string(network) + ",scope=layer,fuse=on");
    EXPECT_EQ(workload::parameters_of(workload::groups_of(apart)).all,
              workload::parameters_of(workload::groups_of(fused)).all);
    const auto of_apart = workload::operations_of(apart), of_fused = workload::operations_of(fused);
    EXPECT_EQ(of_apart.back().outputs, of_fused.back().outputs);
    for (const workload::LayerOperation& o : of_fused) {
      if (o.workload.gemm() == nullptr) continue;
      const workload::Fusion& f = o.workload.gemm()->fusion;
      const std::size_t vectors = f.norm == workload::Norm::kNone ? 0 : f.norm == workload::Norm::kRmsNorm ? 1 : 2;
      EXPECT_EQ(o.inputs.size(), 2 + vectors + (f.rotated > 0 ? 1 : 0) + (f.has_residual ? 1 : 0)) << o.name;
    }
  }
}

// A second product takes the place of the operations that it joins, with their tensors.
TEST(Fusion, JoinsTheProductsOfANetwork) {
  const auto always = [](const auto& /*apart*/, const auto& /*together*/) { return true; };
  const auto joined = [&](const std::string& network) {
    return workload::fused(workload::operations_of(workload::load(network + ",scope=layer,fuse=on")), always);
  };
  const std::vector<workload::LayerOperation> llama = joined("llama3.1-8b");
  ASSERT_EQ(llama.size(), 4U);
  const workload::LayerOperation& network = llama.back();
  EXPECT_EQ(network.name, "rmsnorm + gate, up + swiglu, down + sum");
  EXPECT_EQ(network.workload.name(), "gemm:2048x28672x4096,norm=rmsnorm,activation=silu,gated=1,down=4096,residual=1");
  EXPECT_EQ(network.inputs, (std::vector<std::string>{"attention sum", "gate, up weights", "down weights",
                                                      "network norm gamma", "attention sum"}));
  EXPECT_EQ(network.outputs, std::vector<std::string>{"network sum"});
  EXPECT_EQ(network.parameters, std::uint64_t{3} * 4096 * 14336 + 4096);
  // Operations behind the second product stay; experts, which run several times, are not joined.
  EXPECT_EQ(joined("gemma2-9b").size(), 8U);
  for (const workload::LayerOperation& o :
       joined("H=2,N=8,E=16,hidden=32,ffn=64,gated=1,experts=4,experts_per_token=2,shared_ffn=16")) {
    EXPECT_EQ(o.workload.gemm() != nullptr && o.workload.gemm()->fusion.down > 0, o.name.rfind("shared", 0) == 0)
        << o.name;
  }
}

constexpr const char* kLayer =
    "H=4,HKV=2,N=96,E=32,causal=1,hidden=128,ffn=300,gated=1,rotary=1,norm=rmsnorm,scope=layer";

TEST(Fusion, IsGoldenInALayer) {
  const LayerRun layer = run("edge", std::string(kLayer) + ",fuse=on", true);
  ASSERT_EQ(layer.layer().operations.size(), 4U);
  for (const OperationRun& o : layer.layer().operations) {
    EXPECT_TRUE(o.result.golden_checked && o.result.golden.passed) << o.name << ": " << o.result.golden.to_string();
  }
  // Operations on each other's results, against the whole layer in double precision.
  for (const char* network :
       {kLayer, "bert-base,N=32,scope=layer", "llama3.1-8b,N=32,hidden=256,ffn=512,scope=layer,type=fp8_e4m3",
        "H=4,N=32,E=32,hidden=128,ffn=256,gated=1,experts=8,experts_per_token=3,expert_ffn=64,shared_ffn=64,"
        "scope=layer"}) {
    const LayerRun chained = run("edge", std::string(network) + ",fuse=on", true);
    EXPECT_FALSE(chained.layer().chain.empty());  // of experts, the router's result, too
    for (const job::ChainResult& c : chained.layer().chain) EXPECT_TRUE(c.golden.passed) << c.golden.to_string();
  }
}

// One row block holds all rows between the products, with PEs of all clusters in use; otherwise they stay apart.
TEST(Fusion, JoinsProductsWhereL1HoldsTheirRows) {
  MachineConfig machine = config::load_hardware("edge");
  const auto operations = [&] {
    LayerOptions options;
    options.tuning = runs::few_evaluations();
    return run_layer(machine, workload::load(std::string(kLayer) + ",fuse=on"), "auto",
                     config::load_energy(machine.energy), options)
        .layer()
        .operations.size();
  };
  EXPECT_EQ(operations(), 4U);
  machine.l1.size_bytes = 64 * 1024;  // 96 rows of 128 and of 300 need 82,176 bytes
  EXPECT_EQ(operations(), 5U);
  machine.l1.size_bytes = 1024 * 1024;
  machine.clusters = 4;
  EXPECT_EQ(operations(), 5U);
}

// Bytes of an operation other than attention that cross DRAM: by its tiles, or once behind a cache.
std::uint64_t bytes_by_hand(const OperationRun& o, const MachineConfig& m) {
  const workload::Workload& n = o.result.network;
  const job::Tiling& tiling = o.result.schedule.tiling;
  const bool is_cached = m.dram.policy == "cached";
  if (const workload::Gemm* g = n.gemm()) {
    const workload::Fusion& f = g->fusion;
    const std::uint64_t rows = g->rows, vectors = f.norm == workload::Norm::kRmsNorm ? g->depth : 0,
                        once = (rows + g->columns) * g->depth + f.down * g->first_columns() + vectors + rows * f.head +
                               (f.has_residual ? rows * g->result_columns() : 0);
    return 2 * ((is_cached ? once : runs::elements_read(*g, tiling, m)) + n.result_elements());
  }
  const job::Operands operands = job::operands_of(n);
  const std::uint64_t blocks = runs::parts_of(n.rows()->rows, tiling["nq"]);
  const bool has_vectors = n.rows()->opcode == hal::Opcode::kNorm;
  const std::uint64_t times = has_vectors && !is_cached ? std::min<std::uint64_t>(m.clusters, blocks) : 1;
  return 2 * (operands.q + times * (operands.k + operands.v) + n.result_elements());
}

TEST(Fusion, SavesTheCountedBytes) {
  for (const char* hardware : {"edge-16nm", "h100"}) {
    const MachineConfig machine = config::load_hardware(hardware);
    std::map<std::string, std::uint64_t> bytes;  // without attention
    for (const char* fuse : {"off", "on"}) {
      const LayerRun layer = run(hardware, fmt::format("{},fuse={}", kLayer, fuse), false);
      for (const OperationRun& o : layer.layer().operations) {
        if (o.result.network.is_attention()) continue;
        EXPECT_EQ(totals_of(o).dram_bytes, bytes_by_hand(o, machine)) << hardware << " " << o.name;
        bytes[fuse] += totals_of(o).dram_bytes;
      }
    }
    EXPECT_LT(bytes["on"], bytes["off"]) << hardware;
    // Each of 96 rows: two norms and two products before sums are neither stored nor loaded, nor are 6 heads of 32
    // before the rotary embedding, and 300 gates and factors.
    const std::uint64_t elements = 2 * (2 * 128 + 2 * 128 + 6 * 32 + 2 * 300);
    if (machine.dram.policy == "cached") {
      EXPECT_EQ(bytes["off"] - bytes["on"], 2 * 96 * elements);
    }
  }
}

// Products store new K and V where all their columns are final, and the cache has those rows one behind the other.
TEST(Fusion, AppendsToTheCache) {
  const std::string rest = "; attention; out + sum; rmsnorm + gate, up + swiglu; down + sum";
  const std::string llama = "llama3.1-8b,scope=layer,fuse=on,cache=100,";
  for (const char* phase : {"phase=decode,batch=3", "phase=prefill,N=20", "phase=decode,type=bf16"}) {
    const auto operations = workload::operations_of(workload::load(llama + phase));
    int appended = 0, appending = 0;
    for (const workload::LayerOperation& o : operations) {
      if (o.workload.gemm() != nullptr && o.workload.gemm()->fusion.append.any()) ++appended;
      if (o.workload.is_attention() && o.workload.attention().append) ++appending;
    }
    EXPECT_EQ(appended + 2 * appending, std::string(phase).find("bf16") == std::string::npos ? 1 : 2) << phase;
  }
  EXPECT_EQ(names_of(llama + "phase=decode,batch=3"), "rmsnorm + qkv + rope + append" + rest);
  EXPECT_EQ(names_of(llama + "phase=decode,append=off"), "rmsnorm + qkv + rope" + rest);
  EXPECT_EQ(names_of(llama + "phase=decode,NKV=200"), "rmsnorm + qkv + rope" + rest);
  EXPECT_EQ(names_of(llama + "phase=decode,page=16"), "rmsnorm + qkv + rope" + rest);
  // K is a norm's result.
  EXPECT_EQ(names_of("qwen3-8b,phase=decode,cache=100,scope=layer,fuse=on").find("append"), std::string::npos);
  EXPECT_EQ(names_of("deepseek-v3,phase=decode,cache=100,scope=layer,fuse=on").find("append"), std::string::npos);
}

// A decode step of 3 requests: the product writes what attention would have read and written once more.
TEST(Fusion, SavesTheRowsThatAttentionAppends) {
  const std::string network =
      "H=4,HKV=2,E=32,phase=decode,cache=100,batch=3,hidden=128,ffn=256,gated=1,rotary=1,"
      "norm=rmsnorm,scope=layer,fuse=";
  const MachineConfig machine = config::load_hardware("edge-16nm");
  std::map<std::string, std::map<std::string, std::uint64_t>> bytes;
  for (const char* fuse : {"off", "on"}) {
    const LayerRun layer = run("edge-16nm", network + fuse, false);
    for (const OperationRun& o : layer.layer().operations) {
      const bool is_attention = o.result.network.is_attention();
      bytes[fuse][is_attention ? "attention" : "others"] += totals_of(o).dram_bytes;
      if (is_attention) continue;
      EXPECT_EQ(totals_of(o).dram_bytes, bytes_by_hand(o, machine)) << o.name;
    }
  }
  const std::uint64_t new_rows = 2 * 3 * 2 * 32, all = 2 * 3 * 2 * 101 * 32, queries = 2 * 3 * 4 * 32;  // elements
  EXPECT_EQ(bytes["on"]["attention"], 2 * (queries + all));
  EXPECT_EQ(bytes["off"]["attention"], 2 * (queries + all + 2 * new_rows));
  EXPECT_LT(bytes["on"]["others"], bytes["off"]["others"]);
}

TEST(Fusion, IsGoldenWithACache) {
  for (const char* network : {"llama3.1-8b,N=1,hidden=256,ffn=512,phase=decode,cache=100,batch=3,scope=layer,fuse=on",
                              "H=4,HKV=2,E=32,phase=prefill,N=24,cache=40,batch=2,causal=1,hidden=128,ffn=256,"
                              "scope=layer,fuse=on"}) {
    const LayerRun layer = run("edge", network, true);
    EXPECT_TRUE(layer.layer().operations.front().name.find("append") != std::string::npos ||
                layer.layer().operations[1].name.find("append") != std::string::npos);
    EXPECT_TRUE(layer.golden_checked() && layer.golden_passed()) << network;
  }
}

// A layer of decoding: every weight once, in INT4 with a scale of FP16 for 128 of a column, and with norms and
// activations fused nothing else but rows of one token, vectors of norms and angles.
TEST(Weights, SaveTheCountedBytes) {
  const std::string network = "llama3.1-8b,phase=decode,cache=127,scope=layer,fuse=on,weights=";
  const MachineConfig machine = config::load_hardware("edge-16nm");
  std::map<std::string, std::uint64_t> bytes;  // of products
  for (const char* weights : {"auto", "int4"}) {
    const LayerRun layer = run("edge-16nm", network + weights, false);
    for (const OperationRun& o : layer.layer().operations) {
      if (o.result.network.is_attention()) continue;
      EXPECT_EQ(totals_of(o).dram_bytes, runs::bytes_read(*o.result.network.gemm(), o.result.schedule.tiling, machine) +
                                             2 * o.result.network.result_elements())
          << o.name;
      bytes[weights] += totals_of(o).dram_bytes;
    }
    const std::uint64_t parameters =
        std::uint64_t{4096} * (6144 + 4096 + 28672 + 14336);  // qkv, out, gate and up, down
    const std::uint64_t norms = 2 * 4096;
    EXPECT_EQ(layer.need.weights,
              weights == std::string("auto") ? 2 * (parameters + norms) : parameters / 2 + parameters / 64 + 2 * norms);
    EXPECT_GT(bytes[weights], layer.need.weights - 2 * norms);
    EXPECT_LT(bytes[weights], layer.need.weights * 11 / 10);
  }
}

// Products of activations have no weights of their own.
TEST(Weights, AreThoseOfProductsWithWeights) {
  const std::string model =
      "H=4,N=32,E=32,hidden=128,ffn=256,gated=1,vocabulary=300,experts=4,experts_per_token=2,shared_ffn=64,"
      "scope=model,weights=int4,group=32,expert_weights=mxfp4";
  std::map<std::string, int> count;
  for (const workload::LayerGroup& g : workload::groups_of(workload::load(model))) {
    for (const workload::LayerOperation& o : g.operations) {
      if (o.workload.gemm() != nullptr) ++count[o.workload.weights().text()];
      EXPECT_EQ(o.workload.weights().any(), o.workload.gemm() != nullptr) << o.name;
      EXPECT_EQ(o.name == "expert gate, up" || o.name == "expert down",
                o.workload.weights().text() == ",weights=mxfp4");
    }
  }
  EXPECT_EQ(count[",weights=int4,group=32"], 6);  // qkv, out, router, of the shared expert two, logits
  EXPECT_EQ(count[""], 0);
  for (const char* wrong : {"group=32", "weights=int4,group=0", "weights=int3", "weights=int4,type=int8",
                            "expert_weights=mxfp4,type=fp8_e4m3"}) {
    EXPECT_THROW(workload::load(fmt::format("H=2,N=8,E=16,hidden=32,ffn=64,scope=layer,{}", wrong)),
                 config::ConfigError)
        << wrong;
  }
}

// INT8 with a scale of FP16 a column; the table of tokens stays FP16, so that a tied projection has a copy.
TEST(Weights, OfATiedProjectionAreStoredBesidesTheTable) {
  const LayerRun model =
      run("edge", "H=4,N=16,E=32,hidden=128,ffn=256,vocabulary=300,tied=1,scope=model,weights=int8", false);
  const std::uint64_t columns = 384 + 128 + 256 + 128;  // qkv, out, up, down
  EXPECT_EQ(model.need.weights,
            2U * 300 * 128 + 300 * (128 + 2) + (384 + 128 + 256) * 128 + 128 * 256 + 2 * columns + 3 * 2 * 2 * 128);
}

TEST(Weights, AreGoldenInAModel) {
  constexpr const char* kModel =
      "H=4,HKV=2,N=48,E=32,causal=1,hidden=128,ffn=300,gated=1,rotary=1,layers=2,vocabulary=200,scope=model,";
  for (const char* words : {"weights=int4,group=64", "weights=mxfp4,fuse=on", "weights=int8,type=bf16"}) {
    const LayerRun model = run("edge", std::string(kModel) + words, true);
    for (const GroupRun& g : model.groups) {
      for (const job::ChainResult& c : g.chain)
        EXPECT_TRUE(c.golden.passed) << words << " " << g.name << " " << c.tensor;
    }
    EXPECT_TRUE(model.golden_checked() && model.golden_passed()) << words;
  }
}

// A choice by time is no slower than the operations apart.
TEST(Fusion, IsChosenByCycles) {
  for (const char* hardware : {"edge", "h100"}) {
    const std::uint64_t apart = run(hardware, std::string(kLayer) + ",fuse=off", false).totals().cycles,
                        chosen = run(hardware, std::string(kLayer) + ",fuse=auto", false).totals().cycles;
    EXPECT_LE(chosen, apart) << hardware;
  }
  const LayerRun model =
      run("edge", "H=4,N=64,E=32,hidden=128,ffn=256,layers=5,vocabulary=300,scope=model,fuse=auto", false);
  EXPECT_EQ(model.groups.size(), 3U);
}

}  // namespace
}  // namespace attnvp::explore
