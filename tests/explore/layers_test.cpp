// Whole layers: their operations, that sums are the parts', and the papers' count of linear layers.
#include "explore/layers/layers.h"

#include <gtest/gtest.h>

#include "platform/machine/error.h"
#include "platform/machine/hardware.h"
#include "platform/workload/workload.h"
#include "tests/support/tuned.h"

namespace attnvp::explore {
namespace {

LayerRun run(const std::string& hardware, const std::string& network, const std::string& dataflow, bool full) {
  const MachineConfig machine = config::load_hardware(hardware);
  LayerOptions options;
  options.full = full;
  return run_layer(machine, workload::load(network), dataflow, config::load_energy(machine.energy), options);
}

TEST(Layers, AreTheirOperations) {
  const auto operations = workload::operations_of(workload::load("llama3.1-8b,scope=layer"));
  std::string text;
  for (const workload::LayerOperation& o : operations) text += o.name + " " + o.workload.name() + "\n";
  EXPECT_EQ(text,
            "attention norm rmsnorm:2048x4096\nqkv gemm:2048x6144x4096\nrotary rope:2048x5120x128\n"
            "attention llama3.1-8b,scope=layer\nout gemm:2048x4096x4096\nattention sum add:2048x4096\n"
            "network norm rmsnorm:2048x4096\ngate, up gemm:2048x28672x4096\nactivation swiglu:2048x14336\n"
            "down gemm:2048x4096x14336\nnetwork sum add:2048x4096\n");
}

std::string names_of(const std::string& network) {
  std::string text;
  for (const workload::LayerOperation& o : workload::operations_of(workload::load(network))) {
    const std::string& name = o.name == "attention" ? o.name : o.workload.name();
    text += (text.empty() ? "" : " ") + name;
  }
  return text;
}

// Norms behind the sums, before, around; what is linear alone.
TEST(Layers, HaveWhatTheirModelHas) {
  const std::string shape = "H=2,N=8,E=16,hidden=32,ffn=64,scope=layer";
  EXPECT_EQ(names_of("bert-base,N=8"),
            "gemm:8x2304x768 attention gemm:8x768x768 add:8x768 layernorm:8x768 gemm:8x3072x768 gelu:8x3072 "
            "gemm:8x768x3072 add:8x768 layernorm:8x768");
  EXPECT_EQ(names_of("vit-b-16,N=8"),
            "layernorm:8x768 gemm:8x2304x768 attention gemm:8x768x768 add:8x768 layernorm:8x768 gemm:8x3072x768 "
            "gelu:8x3072 gemm:8x768x3072 add:8x768");
  EXPECT_EQ(names_of("gemma2-9b,N=8"),
            "rmsnorm:8x3584 gemm:8x8192x3584 rope:8x6144x256 attention gemm:8x3584x4096 rmsnorm:8x3584 add:8x3584 "
            "rmsnorm:8x3584 gemm:8x28672x3584 geglu_tanh:8x14336 gemm:8x3584x14336 rmsnorm:8x3584 add:8x3584");
  EXPECT_EQ(names_of("qwen3-8b,N=8").find("rmsnorm:8x4096 gemm:8x6144x4096 rmsnorm:320x128 rope:8x5120x128 attention "),
            0U);
  EXPECT_EQ(names_of(shape + ",linear=1"), "gemm:8x96x32 attention gemm:8x32x32 gemm:8x64x32 gemm:8x32x64");
  EXPECT_EQ(names_of(shape + ",norm=none,activation=relu"),
            "gemm:8x96x32 attention gemm:8x32x32 add:8x32 gemm:8x64x32 relu:8x64 gemm:8x32x64 add:8x32");
  EXPECT_EQ(names_of(shape + ",gated=1"),
            "rmsnorm:8x32 gemm:8x96x32 attention gemm:8x32x32 add:8x32 rmsnorm:8x32 gemm:8x128x32 swiglu:8x64 "
            "gemm:8x32x64 add:8x32");
}

// V may have another width than Q and K (FlashMLA, Megatron): 2 heads of 64 and 64 and 32 columns.
TEST(Layers, ProjectionsHaveTheWidthOfTheValues) {
  const std::string widths = "N=64,E=64,EV=32,hidden=128,ffn=256,scope=layer";
  EXPECT_EQ(names_of("H=2," + widths).find("layernorm:64x128 gemm:64x320x128 attention gemm:64x128x64 "), 0U);
  EXPECT_EQ(names_of("H=4,HKV=2," + widths).find("layernorm:64x128 gemm:64x448x128 attention gemm:64x128x128 "), 0U);
  const LayerRun layer = run("edge", "H=2," + widths, "auto", true);
  for (const OperationRun& o : layer.layer().operations) EXPECT_TRUE(o.result.golden.passed) << o.name;
}

TEST(Layers, OfDecodingHaveARowForEveryRequest) {
  const auto operations = workload::operations_of(workload::load("llama3.1-8b,phase=decode,batch=3,cache=99"));
  EXPECT_EQ(operations.front().workload.name(), "rmsnorm:3x4096");
  EXPECT_EQ(operations[1].workload.name(), "gemm:3x6144x4096");
  EXPECT_EQ(operations[3].workload.attention().seq_kv, 100U);
}

TEST(Layers, AreSumsAndGolden) {
  const LayerRun layer =
      run("edge", "H=4,HKV=2,N=96,E=32,causal=1,hidden=128,ffn=300,gated=1,rotary=1,scope=layer", "auto", true);
  ASSERT_EQ(layer.layer().operations.size(), 11U);
  std::uint64_t cycles = 0;
  double energy = 0;
  for (const auto& [name, result, count] : layer.layer().operations) {
    EXPECT_TRUE(result.golden_checked) << name;
    EXPECT_TRUE(result.golden.passed) << name << ": " << result.golden.to_string();
    cycles += result.cycles;
    energy += result.total_energy_pj();
  }
  EXPECT_EQ(layer.totals().cycles, cycles);
  EXPECT_DOUBLE_EQ(layer.totals().energy_pj, energy);
  EXPECT_EQ(layer.tokens, 96U);
  // The same operations by themselves take as long as one after the other on one machine.
  const MachineConfig machine = config::load_hardware("edge");
  for (const auto& [name, result, count] : layer.layer().operations) {
    runs::Runner alone(machine, config::load_energy(machine.energy), false);
    EXPECT_EQ(alone.run(result.network, result.schedule, nullptr, {}).cycles, result.cycles) << name;
  }
}

// Layers of an encoder, and layers that attend to its rows: values, and work by hand.
TEST(Layers, OfAnEncoderAndADecoderAreGolden) {
  const std::string shape =
      "H=4,HKV=2,N=24,E=16,hidden=64,ffn=96,gated=1,vocabulary=40,mel_bins=8,positions=24,"
      "blocks=2*encoder+3*cross,encoder=37,batch=2,scope=";
  for (const char* words :
       {"layer", "layer,block=2", "layer,block=2,fuse=on", "layer,phase=decode,cache=23", "model"}) {
    const LayerRun all = run("edge", shape + words + ",causal=1", "auto", true);
    EXPECT_TRUE(all.golden_passed()) << words;
    for (const GroupRun& g : all.groups) {
      for (const job::ChainResult& c : g.chain) EXPECT_TRUE(c.golden.passed) << words << ", " << g.name;
      for (const auto& [name, result, count] : g.operations) {
        EXPECT_TRUE(result.golden.passed) << words << ", " << g.name << ", " << name;
      }
    }
  }
  const LayerRun cross = run("edge", shape + "layer,block=2,norm=none,causal=0", "mas", false);
  // Q, K and V of 24 rows, or K and V of 37; both attentions; O, twice; the network; batches of 2
  EXPECT_EQ(cross.totals().macs, 2ULL * (24 * 64 * 128 + 24 * 64 * 64 + 37 * 64 * 64 + 2 * 24 * 64 * 64 +
                                         2 * 64 * 24 * (24 + 37) + 24 * 3 * 64 * 96));
}

// Products and attention of that type; what lies between them is FP16. Types of one byte have a conversion before each
// product and before attention.
TEST(Layers, HaveTypes) {
  for (const char* type : {"int8", "fp8_e4m3", "bf16"}) {
    const LayerRun layer =
        run("edge", std::string("H=4,N=40,E=32,hidden=128,ffn=200,scope=layer,type=") + type, "auto", true);
    ASSERT_EQ(layer.layer().operations.size(), type == std::string("bf16") ? 10U : 15U);
    std::uint64_t cycles = 0;
    for (const auto& [name, result, count] : layer.layer().operations) {
      EXPECT_TRUE(result.golden_checked) << name;
      EXPECT_TRUE(result.golden.passed) << name << ": " << result.golden.to_string();
      const bool converts = name.find("conversion") != std::string::npos;
      EXPECT_EQ(result.network.is_typed(), converts || result.network.rows() == nullptr) << name;
      if (converts) {
        EXPECT_EQ(attnvp::name_of(result.network.out()), type) << name;
      }
      cycles += result.cycles;
    }
    EXPECT_EQ(layer.totals().cycles, cycles);
  }
}

TEST(Layers, OfAModelAreRunOnceAndAddedUp) {
  const std::string shape = "H=4,N=64,E=32,hidden=128,ffn=256,layers=5,vocabulary=300,rotary=1";
  const LayerRun one = run("edge", shape + ",scope=layer", "flat", false);
  const LayerRun all = run("edge", shape + ",scope=model", "flat", false);
  ASSERT_EQ(all.groups.size(), 3U);
  EXPECT_EQ(all.groups[0].name, "embedding");
  EXPECT_EQ(all.groups[1].count, 5U);
  EXPECT_EQ(all.groups[2].name, "last projection");
  const LayerTotals layer = one.totals();
  EXPECT_EQ(all.layer().totals().cycles, layer.cycles);
  EXPECT_EQ(all.totals().cycles, 5 * layer.cycles + all.groups[0].totals().cycles + all.groups[2].totals().cycles);
  // One token of the sequence needs logits.
  EXPECT_EQ(all.totals().macs, 5 * layer.macs + 300 * 128);
  EXPECT_EQ(layer.macs, 64ULL * (4 * 128 * 128 + 2 * 128 * 256) + 2 * 4 * 64 * 64 * 32);
  // The lookup reads 64 rows and writes them.
  EXPECT_EQ(all.groups[0].totals().dram_bytes, 2ULL * 2 * 64 * 128);
  EXPECT_NEAR(all.tokens_per_second() * all.totals().seconds, 64, 1e-9);
  EXPECT_EQ(run("edge", shape + ",scope=model,logits=all", "flat", false).totals().macs,
            5 * layer.macs + 64 * 300 * 128);
}

// Equal operations of blocks that differ elsewhere have equal results, and full data checks all of them.
TEST(Layers, OfBlocksThatDiffer) {
  const std::string shape =
      "H=4,HKV=2,N=96,E=32,causal=1,window=16,hidden=128,ffn=96,gated=1,rotary=1,experts=4,experts_per_token=2,"
      "expert_ffn=64,shared_ffn=32,vocabulary=100,blocks=2*full.dense+3*window.experts,scope=model";
  const LayerRun model = run("edge", shape, "flat", true);
  ASSERT_EQ(model.groups.size(), 4U);
  EXPECT_TRUE(model.golden_checked());
  EXPECT_TRUE(model.golden_passed());
  for (const GroupRun& g : model.groups) {
    for (const OperationRun& o : g.operations) EXPECT_TRUE(o.result.golden_checked) << g.name << ": " << o.name;
  }
  const std::uint64_t attention = 2 * 128 * 128 + 128 * 128, per_token = 96ULL * attention;
  const auto macs = [&](std::size_t g, const char* name) {
    std::uint64_t sum = 0;
    for (const OperationRun& o : model.groups[g].operations) sum += o.name == name ? totals_of(o).macs : 0;
    return sum;
  };
  EXPECT_EQ(macs(1, "qkv") + macs(1, "out"), per_token);
  EXPECT_EQ(macs(2, "qkv") + macs(2, "out"), per_token);
  EXPECT_EQ(macs(2, "router"), 96ULL * 4 * 128);
  EXPECT_EQ(macs(2, "expert gate, up"), 96ULL * 2 * 2 * 64 * 128);
  EXPECT_EQ(macs(2, "expert down"), 96ULL * 2 * 64 * 128);
  EXPECT_EQ(macs(2, "shared down"), 96ULL * 32 * 128);
  const LayerRun timing = run("edge", shape, "flat", false);
  EXPECT_EQ(timing.totals().cycles, model.totals().cycles);
  EXPECT_DOUBLE_EQ(timing.totals().energy_pj, model.totals().energy_pj);
  EXPECT_EQ(timing.totals().dram_bytes, model.totals().dram_bytes);
}

// Both forms of latent attention, with all of their products.
TEST(Layers, OfLatentAttentionAreGolden) {
  const std::string shape =
      "H=4,N=48,causal=1,kv_rank=64,q_rank=48,nope_emb=32,rope_emb=16,v_emb=32,hidden=128,ffn=96,gated=1,rotary=1,"
      "scope=layer,mla=";
  const std::uint64_t q = 48 * 128 + 4 * 48 * 48, kv_down = 80 * 128, out = 128 * 128, network = 3 * 96 * 128;
  for (const auto& [form, up] : {std::pair{"absorbed", 4 * 32 * 64 + 4 * 32 * 64}, {"plain", 4 * 64 * 64}}) {
    const LayerRun layer = run("edge", shape + form, "flat", true);
    std::uint64_t products = 0;
    for (const OperationRun& o : layer.layer().operations) {
      EXPECT_TRUE(o.result.golden_checked) << o.name;
      EXPECT_TRUE(o.result.golden.passed) << o.name << ": " << o.result.golden.to_string();
      products += o.result.network.gemm() == nullptr ? 0 : totals_of(o).macs;
    }
    EXPECT_EQ(products, 48 * (q + kv_down + static_cast<std::uint64_t>(up) + out + network)) << form;
  }
}

// Schedules that several processes chose are those of one.
TEST(Layers, DoNotDependOnTheNumberOfProcesses) {
  const MachineConfig machine = config::load_hardware("edge");
  const config::EnergyTable energy = config::load_energy(machine.energy);
  LayerOptions options;
  options.full = false;
  options.tuning.use_cache = false;
  const workload::Workload n = workload::load("H=4,N=96,E=32,hidden=128,ffn=300,gated=1,rotary=1,scope=layer");
  const LayerRun one = run_layer(machine, n, "auto", energy, options);
  options.jobs = 3;
  const LayerRun three = run_layer(machine, n, "auto", energy, options);
  for (std::size_t i = 0; i < one.layer().operations.size(); ++i) {
    const job::RunResult &a = one.layer().operations[i].result, &b = three.layer().operations[i].result;
    EXPECT_EQ(a.cycles, b.cycles) << one.layer().operations[i].name;
    EXPECT_EQ(a.schedule.text + " " + job::tiling_line(a.schedule.tiling),
              b.schedule.text + " " + job::tiling_line(b.schedule.tiling));
  }
  EXPECT_THROW(run_layer(machine, n, "flat", energy,
                         [&] {
                           LayerOptions wrong = options;
                           wrong.tiling = job::parse_tiling("nq=4096");
                           return wrong;
                         }()),
               config::ConfigError);
}

// One result of the whole layer: the sums of what its operations report.
TEST(Layers, AreOneResultTogether) {
  const LayerRun layer =
      run("edge", "H=4,N=96,E=32,hidden=128,ffn=300,layers=3,vocabulary=50,scope=model", "flat", true);
  const job::RunResult all = combined(layer);
  const LayerTotals sum = layer.totals();
  EXPECT_EQ(all.cycles, sum.cycles);
  EXPECT_EQ(all.sum("mac", "macs"), sum.macs);
  EXPECT_NEAR(all.total_energy_pj(), sum.energy_pj, 1e-9 * sum.energy_pj);
  EXPECT_TRUE(all.golden_checked && all.golden.passed);
  std::uint64_t peak = 0;
  for (const GroupRun& g : layer.groups) {
    for (const OperationRun& o : g.operations) peak = std::max(peak, o.result.max("l1", "peak_bytes"));
  }
  EXPECT_EQ(all.max("l1", "peak_bytes"), peak);
  for (const job::UnitTime& unit : all.unit_times) {
    std::uint64_t cycles = 0;
    for (const auto& [reason, n] : unit.cycles) cycles += n;
    EXPECT_EQ(cycles, all.cycles) << unit.unit;
  }
  EXPECT_GT(all.utilization.mac, 0);
  EXPECT_LT(all.utilization.mac, 1);
}

// FuseMax: linear layers take 12 D^2 multiply-accumulates a token on 65,536 PEs.
TEST(Layers, LinearOnesAreFuseMaxs) {
  const LayerRun layer = run("fusemax", "bert-base,batch=8,N=1024,linear=1,scope=layer", "fusemax", false);
  std::uint64_t linear = 0;
  for (const auto& [name, result, count] : layer.layer().operations) linear += name == "attention" ? 0 : result.cycles;
  const double paper = 12.0 * 768 * 768 * 8 * 1024 / 65536;
  EXPECT_GE(static_cast<double>(linear), paper);
  EXPECT_LE(static_cast<double>(linear), 1.05 * paper);
}

TEST(Layers, NeedTheModelsWidth) {
  EXPECT_THROW(run("edge", "H=2,N=64,E=32,scope=layer", "mas", false), config::ConfigError);
  EXPECT_THROW(run("edge", "H=2,E=32,L=3+4,hidden=64,ffn=64,scope=layer", "lean", false), config::ConfigError);
}

// What DRAM must have for a network: as the refusal says.
std::uint64_t need_of(const std::string& network, const std::string& dataflow) {
  MachineConfig machine = config::load_hardware("edge");
  machine.dram.size_bytes = 64 << 10;
  try {
    run_layer(machine, workload::load(network), dataflow, config::load_energy(machine.energy), {});
  } catch (const config::ConfigError& e) {
    const std::string text = e.what(), word = " need at least ";
    EXPECT_NE(text.find("dram.size is 65536 bytes"), std::string::npos) << text;
    return text.find(word) == std::string::npos ? 0 : std::stoull(text.substr(text.find(word) + word.size()));
  }
  return 0;
}

TEST(Layers, NeedDramForWeightsCacheAndActivations) {
  const std::string shape = "H=4,HKV=2,N=64,E=32,hidden=128,ffn=512,gated=1,layers=8";
  const std::uint64_t weights = 2 * (128 * 256 + 128 * 128 + 3 * 128 * 512 + 2 * 128), cache = 2 * 2 * 64 * 64;
  const std::uint64_t one = need_of(shape + ",scope=layer", "mas"), all = need_of(shape + ",scope=model", "mas");
  EXPECT_EQ(all - one, 7 * (weights + cache));
  // The activation reads 64 x 1024 numbers and writes 64 x 512, while what is summed up later waits.
  EXPECT_EQ(one, weights + cache + 2 * 64 * (1024 + 512 + 128));
  // Weights of INT8 take half of a product's, and so does the cache.
  const std::uint64_t products = weights - 2 * 2 * 128;
  EXPECT_EQ(all - need_of(shape + ",scope=model,type=int8", "mas"), 8 * (products + cache) / 2);

  MachineConfig machine = config::load_hardware("edge");
  const auto run_in = [&](std::uint64_t bytes) {
    machine.dram.size_bytes = bytes;
    return run_layer(machine, workload::load(shape + ",scope=model"), "mas", config::load_energy(machine.energy), {});
  };
  EXPECT_TRUE(run_in(all).golden_passed());
  EXPECT_THROW(run_in(all - 1), config::ConfigError);
  EXPECT_EQ(need_of(shape + ",scope=model", "auto"), all);
}

TEST(Layers, OfModelsDoNotFitInLessThanTheirWeights) {
  MachineConfig machine = config::load_hardware("edge");
  machine.dram.size_bytes = 1 << 30;
  LayerOptions timing;
  timing.full = false;
  EXPECT_THROW(
      run_layer(machine, workload::load("llama3.1-8b,scope=model"), "mas", config::load_energy(machine.energy), timing),
      config::ConfigError);
}

}  // namespace
}  // namespace attnvp::explore
