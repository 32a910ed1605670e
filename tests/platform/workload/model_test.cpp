// Models as blocks with counts: operations, parameters and multiply-accumulates by hand, and the draw of experts.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>

#include "platform/workload/layers.h"
#include "platform/workload/workload.h"
#include "tests/platform/test_files.h"

namespace attnvp::workload {
namespace {

using attnvp::testing::message_of;

std::string text_of(const LayerGroup& group) {
  std::string text;
  for (const LayerOperation& o : group.operations) {
    const std::string& what = o.workload.is_attention() ? "attention" : o.workload.name();
    text += (text.empty() ? "" : " ") + (o.count > 1 ? std::to_string(o.count) + "*" : "") + what;
  }
  return text;
}

std::uint64_t macs_of(const LayerGroup& group) {
  std::uint64_t macs = 0;
  for (const LayerOperation& o : group.operations) {
    const Gemm* const g = o.workload.gemm();
    if (g != nullptr) macs += std::uint64_t{o.count} * g->rows * g->columns * g->depth;
  }
  return macs;
}

TEST(Model, HasEmbeddingLayersAndLastProjection) {
  const auto groups = groups_of(load("llama3.1-8b,N=100,scope=model"));
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].name + ": " + text_of(groups[0]), "embedding: copy:100x4096");
  EXPECT_EQ(groups[1].name, "layer");
  EXPECT_EQ(groups[1].count, 32U);
  EXPECT_EQ(groups[2].name + ": " + text_of(groups[2]), "last projection: rmsnorm:100x4096 gemm:1x128256x4096");
  // 2 x 128,256 x 4,096 + 32 x (4,096 x (6,144 + 4,096 + 3 x 14,336) + 2 x 4,096) + 4,096
  EXPECT_EQ(parameters_of(groups).all, 8'030'261'248U);
  EXPECT_EQ(parameters_of(groups).active, 32ULL * 4096 * (6144 + 4096 + 3 * 14336) + 128256ULL * 4096);
}

TEST(Model, LogitsAreOfTheTokensThatNeedThem) {
  const auto rows = [](const std::string& words) {
    const auto groups = groups_of(load("gpt2," + words + ",scope=model"));
    return groups.back().operations.back().workload.name();
  };
  EXPECT_EQ(rows("N=64,batch=3"), "gemm:3x50257x768");
  EXPECT_EQ(rows("N=64,batch=3,logits=all"), "gemm:192x50257x768");
  EXPECT_EQ(rows("phase=decode,cache=99,batch=3"), "gemm:3x50257x768");
  EXPECT_EQ(rows("N=64,batch=3,logits=none"), "layernorm:192x768");
  // 50,257 x 768 + 1,024 x 768 + 12 x (12 x 768^2 + 4 x 768) + 2 x 768; 124.4 M with the products' biases
  EXPECT_EQ(parameters_of(groups_of(load("gpt2,scope=model"))).all, 124'356'864U);
}

TEST(Model, EmbeddingHasPositionsNormAndPatches) {
  const std::string shape = "H=2,N=8,E=16,hidden=32,ffn=64,scope=model";
  const auto first = [&](const std::string& words) { return text_of(groups_of(load(shape + words)).front()); };
  EXPECT_EQ(first(",vocabulary=50,positions=8"), "add:8x32");
  EXPECT_EQ(first(",vocabulary=50,positions=8,embedding_norm=1"), "add:8x32 layernorm:8x32");
  EXPECT_EQ(first(",patch=48,positions=8,vocabulary=10"), "gemm:8x32x48 add:8x32");
  EXPECT_EQ(first(",vocabulary=50,linear=1"), text_of(groups_of(load(shape + ",linear=1")).front()));
}

// The encoder has its own rows; layers of the decoder attend to them behind their own rows, and in decode to a cache.
TEST(Model, MayBeAnEncoderAndADecoder) {
  const std::string shape =
      "H=2,N=8,E=16,hidden=32,ffn=64,vocabulary=50,tied=1,causal=1,blocks=3*encoder+2*cross,encoder=20";
  const auto text = [](const std::string& net) {
    std::string all;
    for (const LayerGroup& g : groups_of(load(net))) {
      all += fmt::format("{} {}: {}\n", g.count, g.name, text_of(g));
    }
    return all;
  };
  EXPECT_EQ(text(shape + ",norm=none,scope=model"),
            "1 encoder embedding: copy:20x32\n"
            "3 encoder: gemm:20x96x32 attention gemm:20x32x32 add:20x32 gemm:20x64x32 gelu:20x64 gemm:20x32x64 "
            "add:20x32\n"
            "1 embedding: copy:8x32\n"
            "2 cross: gemm:8x96x32 attention gemm:8x32x32 add:8x32 gemm:8x32x32 gemm:20x64x32 attention gemm:8x32x32 "
            "add:8x32 gemm:8x64x32 gelu:8x64 gemm:8x32x64 add:8x32\n"
            "1 last projection: gemm:1x50x32\n");
  EXPECT_EQ(text(shape + ",norm=none,scope=model,phase=decode"),
            "1 embedding: copy:1x32\n"
            "2 cross: gemm:1x96x32 attention gemm:1x32x32 add:1x32 gemm:1x32x32 attention gemm:1x32x32 add:1x32 "
            "gemm:1x64x32 gelu:1x64 gemm:1x32x64 add:1x32\n"
            "1 last projection: gemm:1x50x32\n");
  EXPECT_EQ(text(shape + ",scope=layer,block=2,phase=decode").substr(0, 8), "1 cross:");
  EXPECT_EQ(load(shape + ",scope=model,phase=decode").model.layers, 2U);
  // Norms: two a layer of the encoder, three of the decoder, one behind each.
  const auto norms = parameters_of(groups_of(load(shape + ",scope=model"))).all -
                     parameters_of(groups_of(load(shape + ",norm=none,scope=model"))).all;
  EXPECT_EQ(norms, (3U * 2 + 2 * 3 + 2) * 2 * 32);
  const auto attention = [&](const std::string& words, std::size_t which) {
    for (const LayerOperation& o : operations_of(load(shape + ",scope=layer" + words))) {
      if (o.workload.is_attention() && which-- == 0) return o.workload.attention();
    }
    return Attention();
  };
  EXPECT_EQ(attention("", 0).seq_q, 20U);
  EXPECT_FALSE(attention("", 0).mask.any());
  EXPECT_EQ(attention(",block=2", 0).seq_kv, 8U);
  EXPECT_TRUE(attention(",block=2", 0).mask.any());
  EXPECT_EQ(attention(",block=2,relative=1", 1).bias, Bias::kNone);
  const Attention cross = attention(",phase=decode,cache=7", 1);
  EXPECT_EQ(cross.seq_q, 1U);
  EXPECT_EQ(cross.seq_kv, 20U);
  EXPECT_FALSE(cross.mask.any() || cross.append);
  EXPECT_EQ(tokens_of(load(shape + ",batch=2,scope=layer")), 40U);
  EXPECT_EQ(tokens_of(load(shape + ",batch=2,scope=layer,block=2")), 16U);
}

// Two frames of sound a row; windows of three frames, of which the first and the last one lack a neighbour.
TEST(Model, MayBeginWithConvolutions) {
  const auto groups = groups_of(load(
      "H=1,N=2,E=4,hidden=4,ffn=4,blocks=1*encoder+1*cross,encoder=3,mel_bins=5,positions=2,vocabulary=9,scope=model"));
  EXPECT_EQ(text_of(groups[0]), "gemm:6x4x15 gelu:6x4 gemm:3x4x12 gelu:3x4 add:3x4");
  const auto rows = [&](std::size_t operation, std::uint64_t width) {  // first frame and number of frames of each row
    std::string text;
    const TensorView& v = groups[0].operations[operation].views.front();
    for (const StridedCopy& c : v.parts) {
      for (std::uint64_t r = 0; r < c.extent[2]; ++r) {
        text += fmt::format("{}:{}+{} ", (c.to + r * c.to_stride[2]) / (3 * width),
                            (c.from + r * c.from_stride[2]) / width, c.extent[3] / width);
      }
    }
    return text;
  };
  EXPECT_EQ(rows(0, 5), "0:0+2 1:0+3 2:1+3 3:2+3 4:3+3 5:4+2 ");
  EXPECT_EQ(rows(2, 4), "0:0+2 1:1+3 2:3+3 ");
}

TEST(Model, RefusesCrossAttentionThatIsNone) {
  const auto is = [](const std::string& words, const std::string& sentence) {
    const std::string message = message_of([&] { load("H=2,N=8,E=16,hidden=32,ffn=64," + words + ",scope=model"); });
    EXPECT_NE(message.find(sentence), std::string::npos) << message;
  };
  is("blocks=1*encoder+1*full", "key 'blocks': found 'encoder' layers; it needs 'cross' layers");
  is("blocks=1*encoder.cross", "key 'blocks': found 'encoder' and 'cross' of one layer; allowed is one of them");
  is("encoder=8", "key 'encoder': it needs 'blocks' with 'cross' layers");
  is("mel_bins=8", "key 'mel_bins': it needs 'blocks' with 'cross' layers");
  is("blocks=1*cross,order=parallel", "key 'order': with 'cross' layers allowed is sequential");
  is("blocks=1*encoder+1*cross,block=1,phase=decode",
     "key 'block': found 1, layers of the encoder, which phase=decode does not run");
  EXPECT_NE(message_of([] {
              load("H=2,NQ=1,L=8+9,E=16,blocks=1*cross");
            }).find("key 'L': with 'cross' layers allowed are equal lengths"),
            std::string::npos);
}

TEST(Model, BlocksDiffer) {
  const auto groups = groups_of(load("gemma2-9b,N=8,scope=model"));
  ASSERT_EQ(groups.size(), 4U);
  EXPECT_EQ(groups[1].name, "full");
  EXPECT_EQ(groups[2].name, "window");
  EXPECT_EQ(groups[1].count, 21U);
  const auto window = [](const LayerGroup& g) {
    for (const LayerOperation& o : g.operations) {
      if (o.workload.is_attention()) return o.workload.attention().mask.window;
    }
    return 1U;
  };
  EXPECT_EQ(window(groups[1]), 0U);
  EXPECT_EQ(window(groups[2]), 4096U);
  EXPECT_EQ(load("gemma2-9b").attention().mask.window, 0U);
  EXPECT_EQ(load("gemma2-9b").model.layers, 21U);
  EXPECT_EQ(load("gemma2-9b,block=2").attention().mask.window, 4096U);
  const std::string shape = "H=2,N=8,E=16,hidden=32,ffn=64,rotary=1,blocks=3*rotary+1*nope,scope=model";
  EXPECT_NE(text_of(groups_of(load(shape))[0]).find("rope:8x64x16"), std::string::npos);
  EXPECT_EQ(text_of(groups_of(load(shape))[1]).find("rope"), std::string::npos);
}

// DeepSeek-V3's projections: 187.1 M multiply-accumulates a token in absorbed form, which are its weights.
TEST(Model, LatentAttentionHasItsOwnProjections) {
  const auto absorbed = operations_of(load("deepseek-v3,phase=decode,cache=99,scope=layer"));
  EXPECT_EQ(text_of({"", 1, absorbed}),
            "rmsnorm:1x7168 gemm:1x1536x7168 rmsnorm:1x1536 gemm:1x24576x1536 gemm:1x576x7168 rmsnorm:1x512 "
            "rope:1x8256x64 gemm:1x65536x128 attention gemm:1x16384x512 gemm:1x7168x16384 add:1x7168 rmsnorm:1x7168 "
            "gemm:1x36864x7168 swiglu:1x18432 gemm:1x7168x18432 add:1x7168");
  std::uint64_t projections = 0;
  for (const LayerOperation& o : absorbed) {
    if (o.name == "gate, up") break;
    projections += o.active;
  }
  EXPECT_EQ(projections, 1536ULL * 7168 + 24576ULL * 1536 + 576ULL * 7168 + 2 * 128ULL * 128 * 512 + 7168ULL * 16384);
  EXPECT_EQ(projections, 187'105'280U);

  const auto plain = operations_of(load("deepseek-v3,N=10,scope=layer"));
  EXPECT_NE(text_of({"", 1, plain}).find("gemm:10x32768x512 attention gemm:10x7168x16384"), std::string::npos);
  for (const LayerOperation& o : plain) {
    if (!o.workload.is_attention()) continue;
    EXPECT_EQ(o.workload.attention().heads_of_kv(), 128U);
    EXPECT_EQ(o.workload.attention().emb, 192U);
    EXPECT_EQ(o.workload.attention().values(), 128U);
  }
  EXPECT_EQ(text_of({"", 1, operations_of(load("deepseek-v3,N=10,mla=absorbed,scope=layer"))})
                .find("gemm:10x65536x128 attention gemm:10x16384x512 "),
            text_of({"", 1, plain}).find("gemm:10x32768x512"));
  EXPECT_EQ(load("deepseek-v3").attention().emb, 576U);
  EXPECT_EQ(load("deepseek-v3,mla=plain").attention().emb, 192U);
}

// 671 billion parameters, of which 37 billion are active (DeepSeek-V3 technical report, section 1).
TEST(Model, ExpertsCountAllAndActiveParameters) {
  const ParameterCount n = parameters_of(groups_of(load("deepseek-v3,N=10,scope=model")));
  EXPECT_NEAR(static_cast<double>(n.all), 671e9, 671e7);
  EXPECT_NEAR(static_cast<double>(n.active), 37e9, 0.5e9);
}

TEST(Model, ExpertsHaveTheTokensOfTheDraw) {
  const std::string shape =
      "H=2,N=50,E=16,hidden=32,ffn=64,gated=1,experts=8,experts_per_token=2,expert_ffn=24,shared_ffn=16,scope=layer";
  const LayerGroup g{"", 1, operations_of(load(shape))};
  const std::uint64_t attention = 50 * (96 * 32 + 32 * 32), router = 50 * 8 * 32;
  EXPECT_EQ(macs_of(g), attention + router + 50 * 2 * (3 * 24 * 32) + 50 * (3 * 16 * 32));
  // One token in decode: two experts of one row each.
  const LayerGroup one{"", 1, operations_of(load(shape + ",phase=decode"))};
  EXPECT_NE(text_of(one).find("gemm:1x8x32 softmax:1x8 copy:2x32 2*gemm:1x48x32 swiglu:2x24 2*gemm:1x32x24 add:1x32 "
                              "gemm:1x32x32 swiglu:1x16 gemm:1x32x16 add:1x32 add:1x32"),
            std::string::npos);
}

TEST(Experts, AreDrawnBySeedAndSkew) {
  Experts e;
  e.count = 64;
  e.chosen = 6;
  const auto sum = [](const std::vector<std::uint32_t>& t) { return std::accumulate(t.begin(), t.end(), 0ULL); };
  const auto all = expert_tokens(e, 1000);
  EXPECT_EQ(sum(all), 6000U);
  EXPECT_EQ(expert_tokens(e, 1000), all);
  // 94 of 6,000 on average, with a standard deviation of 9.2.
  for (const std::uint32_t t : all) EXPECT_NEAR(t, 93.75, 50);
  e.seed = 2;
  EXPECT_NE(expert_tokens(e, 1000), all);
  e.skew = 1;
  const auto skewed = expert_tokens(e, 1000);
  EXPECT_EQ(sum(skewed), 6000U);
  EXPECT_GT(skewed.front(), 4 * skewed.back());
  e.capacity = 1.25;  // 118 tokens
  const auto limited = expert_tokens(e, 1000);
  EXPECT_EQ(*std::max_element(limited.begin(), limited.end()), 118U);
  EXPECT_LT(sum(limited), 6000U);
  e = {};
  e.count = 4;
  e.chosen = 4;
  EXPECT_EQ(expert_tokens(e, 7), std::vector<std::uint32_t>(4, 7));
}

TEST(Experts, AreGroupedWithoutLosingTokens) {
  std::vector<std::uint32_t> tokens{0, 9, 9, 3};
  const auto exact = expert_groups(tokens, 8);
  ASSERT_EQ(exact.size(), 2U);
  EXPECT_EQ(exact[0].tokens, 9U);
  EXPECT_EQ(exact[0].experts, 2U);
  tokens.clear();
  for (std::uint32_t i = 0; i < 101; ++i) tokens.push_back(i * i % 997);
  const auto few = expert_groups(tokens, 8);
  EXPECT_LE(few.size(), 8U);
  std::uint64_t sum = 0, experts = 0;
  for (const ExpertGroup& g : few) sum += std::uint64_t{g.experts} * g.tokens, experts += g.experts;
  EXPECT_EQ(sum, std::accumulate(tokens.begin(), tokens.end(), 0ULL));
  EXPECT_EQ(experts, 100U);  // one has no tokens
}

TEST(Model, AttentionAndNetworkSideBySide) {
  const std::string shape = "H=2,N=8,E=16,hidden=32,ffn=64,rotary=1,rotary_emb=8,scope=layer,order=";
  EXPECT_EQ(text_of({"", 1, operations_of(load(shape + "parallel"))}),
            "layernorm:8x32 gemm:8x96x32 rope:8x32x8 attention gemm:8x32x32 gemm:8x64x32 gelu:8x64 gemm:8x32x64 "
            "add:8x32 add:8x32");
  EXPECT_EQ(text_of({"", 1, operations_of(load(shape + "parallel-norms"))}),
            "layernorm:8x32 gemm:8x96x32 rope:8x32x8 attention gemm:8x32x32 layernorm:8x32 gemm:8x64x32 gelu:8x64 "
            "gemm:8x32x64 add:8x32 add:8x32");
}

TEST(Model, KeysThatDoNotFitAreRefused) {
  const std::string shape = "H=2,N=8,E=16,hidden=32,ffn=64,";
  const auto refusal = [&](const std::string& words) {
    const std::string message = message_of([&] { load(shape + words); });
    return message.substr(std::min(message.size(), message.find("key '")));
  };
  EXPECT_EQ(refusal("blocks=3*thick"),
            "key 'blocks': found '3*thick'; allowed behind a count are window, full, experts, dense, rotary, nope, "
            "encoder, cross, each once");
  EXPECT_EQ(refusal("blocks=window"), "key 'blocks': found 'window'; allowed are blocks such as 3*dense+58*experts");
  EXPECT_EQ(refusal("blocks=2*full+2*window"), "key 'blocks': found 'full' layers; it needs 'window'");
  EXPECT_EQ(refusal("window=4,blocks=2*full+2*window,layers=5"), "key 'layers': found 5; the blocks have 4");
  EXPECT_EQ(refusal("window=4,blocks=2*full+2*window,block=3"), "key 'block': found 3; allowed is 1 to 2");
  EXPECT_EQ(refusal("experts=2,experts_per_token=3"), "key 'experts_per_token': found 3; allowed is at most 2 experts");
  EXPECT_EQ(refusal("experts=2,expert_skew=many"), "key 'expert_skew': found 'many'; allowed is a number of 0 to 8");
  EXPECT_EQ(refusal("kv_rank=32"), "key 'nope_emb': it is missing; 'kv_rank' needs it");
  EXPECT_EQ(refusal("order=parallel,norm_place=post"), "key 'order': with norm_place=post allowed is sequential");
}

}  // namespace
}  // namespace attnvp::workload
