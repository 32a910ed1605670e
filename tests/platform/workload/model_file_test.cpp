// Models' config.json files: small ones made for these tests, with the keys of published models. Right values are those
// of Hugging Face Transformers, whose rules tests name.
#include <cmath>
#include <set>

#include "platform/machine/catalog.h"
#include "platform/machine/provenance.h"
#include "platform/workload/keys.h"
#include "platform/workload/layers.h"
#include "tests/platform/test_files.h"

namespace attnvp::workload {

using namespace config;

namespace {

using attnvp::testing::message_of;
using attnvp::testing::TemporaryFolder;

Workload load_file(const std::string& json, const std::string& words = "") {
  const TemporaryFolder folder;
  return load("hf:" + folder.write("config.json", json) + words);
}
// Behind "config.json: ".
std::string refusal(const std::string& json, const std::string& words = "") {
  const std::string message = message_of([&] { load_file(json, words); });
  EXPECT_EQ(message.substr(0, 13), "config.json: ");
  return message.substr(std::min<std::size_t>(13, message.size()));
}

// Values of DeepSeek-V3 and DeepSeek-V2-Lite.
std::string deepseek_v3(const std::string& more = "") {
  return R"({"model_type": "deepseek_v3", "num_attention_heads": 128, "num_key_value_heads": 128, "hidden_size": 7168,
             "intermediate_size": 18432, "num_hidden_layers": 61, "kv_lora_rank": 512, "q_lora_rank": 1536,
             "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128, "hidden_act": "silu",
             "max_position_embeddings": 163840)" +
         more + "}";
}
const char* const kYarn =
    R"(, "rope_scaling": {"type": "yarn", "factor": 40, "mscale": 1.0, "mscale_all_dim": 1.0, "beta_fast": 32})";

TEST(ModelFile, LatentAttentionHasItsProjections) {
  const Workload n = load_file(deepseek_v3(R"(, "n_routed_experts": 256)"));
  EXPECT_EQ(n.attention().heads, 128U);
  EXPECT_EQ(n.attention().kv_heads, 1U);
  EXPECT_EQ(n.attention().emb, 576U);
  EXPECT_EQ(n.attention().values(), 512U);
  EXPECT_EQ(n.model.layers, 61U);
  // 3 dense layers, and 58 with 256 experts of 2,048 and a shared one, by the class's defaults.
  const auto groups = groups_of(load_file(deepseek_v3(), ",N=64,scope=model"));
  ASSERT_EQ(groups.size(), 4U);
  EXPECT_EQ(groups[1].name + " " + groups[2].name, "dense experts");
  EXPECT_EQ(groups[1].count, 3U);
  EXPECT_EQ(groups[2].count, 58U);
  // DeepSeek-V2-Lite has one projection of Q.
  const std::string lite = R"({"model_type": "deepseek_v2", "num_attention_heads": 16, "hidden_size": 2048,
      "num_hidden_layers": 27, "kv_lora_rank": 512, "q_lora_rank": null, "qk_rope_head_dim": 64,
      "qk_nope_head_dim": 128, "v_head_dim": 128, "num_experts_per_tok": 6, "first_k_dense_replace": 1})";
  EXPECT_EQ(operations_of(load_file(lite, ",N=64,scope=layer"))[1].workload.name(), "gemm:64x3072x2048");
}

TEST(ModelFile, YarnFactorIsInTheScaleOfLatentAttention) {
  const double plain = 1 / std::sqrt(192.0);
  const auto factor = [](double mscale) { return std::pow(0.1 * mscale * std::log(40.0) + 1, 2); };
  EXPECT_NEAR(load_file(deepseek_v3()).attention().scale, plain, 1e-7);
  EXPECT_NEAR(load_file(deepseek_v3(kYarn)).attention().scale, 0.1352338, 1e-7);
  EXPECT_NEAR(load_file(deepseek_v3(kYarn)).attention().scale, plain * factor(1), 1e-7);
  const std::string lite = R"({"model_type": "deepseek_v2", "num_attention_heads": 16, "hidden_size": 2048,
      "num_hidden_layers": 27, "kv_lora_rank": 512, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, )";
  EXPECT_NEAR(
      load_file(lite + R"("rope_scaling": {"type": "yarn", "factor": 40, "mscale_all_dim": 0.707}})").attention().scale,
      plain * factor(0.707), 1e-7);
  EXPECT_NEAR(load_file(lite + R"("rope_parameters": {"rope_type": "yarn", "factor": 40, "mscale_all_dim": 0.707}})")
                  .attention()
                  .scale,
              plain * factor(0.707), 1e-7);
  EXPECT_NEAR(
      load_file(lite + R"("rope_scaling": {"type": "yarn", "factor": 40, "mscale_all_dim": 0}})").attention().scale,
      plain, 1e-7);
  EXPECT_NEAR(
      load_file(lite + R"("rope_scaling": {"type": "yarn", "factor": 0.5, "mscale_all_dim": 1}})").attention().scale,
      plain, 1e-7);
  EXPECT_EQ(refusal(lite + R"("rope_scaling": {"type": "yarn", "mscale_all_dim": 1}})"),
            "key 'rope_scaling.factor': it is missing");
}

TEST(ModelFile, ExpertsOfOtherModelTypesAreRefused) {
  for (const char* key :
       {"num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts", "num_moe_experts"}) {
    EXPECT_EQ(refusal(std::string(R"({"model_type": "llama", ")") + key + "\": 8}", ",scope=model"),
              std::string("scope=layer|model: key '") + key +
                  "': model_type 'llama' has no experts; allowed is scope=attention");
  }
  EXPECT_EQ(
      load_file(R"({"model_type": "llama", "num_experts": 0, "n_routed_experts": null})", ",scope=layer").model.ffn,
      11008U);
}

std::string blocks_of(const std::string& json, const std::string& words = ",N=8,scope=model") {
  std::string text;
  for (const Block& b : load_file(json, words).model.all_blocks()) {
    text += (text.empty() ? "" : ", ") + std::to_string(b.count) + " " + b.name;
  }
  return text;
}

TEST(ModelFile, FamiliesHaveTheirOwnRuleOfExperts) {
  EXPECT_EQ(blocks_of(R"({"model_type": "mixtral"})"), "32 layer");
  const Experts mixtral = load_file(R"({"model_type": "mixtral"})").model.experts;
  EXPECT_EQ(mixtral.count, 8U);
  EXPECT_EQ(mixtral.chosen, 2U);
  EXPECT_EQ(mixtral.ffn, 14336U);
  const Experts qwen = load_file(R"({"model_type": "qwen2_moe"})").model.experts;
  EXPECT_EQ(qwen.count, 60U);
  EXPECT_EQ(qwen.ffn, 1408U);
  EXPECT_EQ(qwen.shared_ffn, 5632U);
  EXPECT_EQ(load_file(R"({"model_type": "qwen3_moe"})").model.experts.shared_ffn, 0U);
  EXPECT_EQ(blocks_of(R"({"model_type": "qwen3_moe", "decoder_sparse_step": 2, "mlp_only_layers": [1]})"),
            "13 dense, 11 experts");
  EXPECT_EQ(blocks_of(R"({"model_type": "deepseek_v2", "num_experts_per_tok": 6, "first_k_dense_replace": 1})"),
            "1 dense, 31 experts");
  EXPECT_EQ(load_file(R"({"model_type": "deepseek_v3"})").model.experts.shared_ffn, 2048U);
  EXPECT_EQ(blocks_of(R"({"model_type": "gpt_oss"})"), "18 window, 18 full");
  EXPECT_EQ(blocks_of(R"({"model_type": "cohere2"})"), "30 window rotary, 10 full nope");
  // Every fourth layer is not rotary and sees all keys; every second one has experts in Maverick.
  EXPECT_EQ(blocks_of(R"({"model_type": "llama4_text", "interleave_moe_layer_step": 2})"),
            "24 window dense rotary, 12 window experts rotary, 12 full experts nope");
  EXPECT_NE(refusal(R"({"model_type": "qwen3_moe", "mlp_only_layers": [99]})")
                .find("allowed is a list of whole numbers below 24"),
            std::string::npos);
  EXPECT_EQ(refusal(R"({"model_type": "deepseek_v2"})", ",scope=layer"),
            "scope=layer|model: key 'num_experts_per_tok': it is missing; allowed is scope=attention");
}

TEST(ModelFile, ExpertsOfMxfp4) {
  const std::string file = R"({"model_type": "gpt_oss", "quantization_config": {"quant_method": "mxfp4",
      "modules_to_not_convert": ["model.layers.*.self_attn", "lm_head"]}})";
  const Workload model = load_file(file, ",N=64,scope=model");
  EXPECT_FALSE(model.model.weights.any());
  EXPECT_EQ(model.model.expert_weights.text(), ",weights=mxfp4");
  for (const LayerGroup& g : groups_of(model)) {
    for (const LayerOperation& o : g.operations) {
      const bool is_expert = o.name == "expert gate, up" || o.name == "expert down";
      EXPECT_EQ(o.workload.weights().any(), is_expert) << o.name;
    }
  }
  EXPECT_FALSE(load_file(R"({"model_type": "gpt_oss"})", ",N=64,scope=model").model.expert_weights.any());
}

TEST(ModelFile, HeadsMayBeTurnedInPart) {
  const auto rotary = [](const std::string& json) {
    for (const LayerOperation& o : operations_of(load_file(json, ",N=8,scope=layer"))) {
      if (o.name == "rotary") return o.workload.name();
    }
    return std::string();
  };
  EXPECT_EQ(rotary(R"({"model_type": "phi"})"), "rope:8x2048x32");  // half of 64 of 32 + 32 heads
  EXPECT_EQ(rotary(R"({"model_type": "phi3", "partial_rotary_factor": 0.75})"), "rope:8x4608x72");
  EXPECT_EQ(rotary(R"({"model_type": "gptj"})"), "rope:8x2048x64");      // 64 of 256
  EXPECT_EQ(rotary(R"({"model_type": "gpt_neox"})"), "rope:8x3072x24");  // a quarter of 96
  EXPECT_EQ(rotary(R"({"model_type": "glm4"})"), "rope:8x2176x64");      // half of 128
  EXPECT_EQ(rotary(R"({"model_type": "mpt"})"), "");
}

TEST(ModelFile, AttentionAndNetworkMayBeSideBySide) {
  const auto order = [](const std::string& keys) { return load_file("{" + keys + "}").model.order; };
  EXPECT_EQ(order(R"("model_type": "phi")"), Order::kOneNorm);
  EXPECT_EQ(order(R"("model_type": "gptj")"), Order::kOneNorm);
  EXPECT_EQ(order(R"("model_type": "gpt_neox")"), Order::kTwoNorms);
  EXPECT_EQ(order(R"("model_type": "gpt_neox", "use_parallel_residual": false)"), Order::kSequential);
  EXPECT_EQ(order(R"("model_type": "falcon")"), Order::kOneNorm);
  EXPECT_EQ(order(R"("model_type": "falcon", "parallel_attn": false)"), Order::kSequential);
  EXPECT_EQ(order(R"("model_type": "falcon", "new_decoder_architecture": true, "num_attention_heads": 128,
                     "hidden_size": 8192, "num_kv_heads": 8)"),
            Order::kTwoNorms);
  EXPECT_EQ(order(R"("model_type": "llama")"), Order::kSequential);
}

TEST(ModelFile, WhatALayerCannotExpressIsRefused) {
  EXPECT_NE(refusal(R"({"model_type": "bert", "is_decoder": true, "add_cross_attention": true})", ",scope=layer")
                .find("key 'add_cross_attention'"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"model_type": "bert", "hidden_act": "laplace"})", ",scope=layer")
                .find("key 'hidden_act': found 'laplace'; a layer has one of gelu, "),
            std::string::npos);
  EXPECT_EQ(load_file(R"({"model_type": "bert", "hidden_act": "laplace"})").attention().heads, 12U);
}

// Values of gemma-3-1b.
const std::string kGemma3 =
    R"({"model_type": "gemma3_text", "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 256,
        "hidden_size": 1152, "intermediate_size": 6912, "num_hidden_layers": 26, "max_position_embeddings": 32768,
        "sliding_window": 512, "query_pre_attn_scalar": 256, "hidden_activation": "gelu_pytorch_tanh")";

TEST(ModelFile, LayersThatDifferHaveASelection) {
  const std::string file = kGemma3 + R"(, "sliding_window_pattern": 6})";
  const Workload first = load_file(file, ",phase=decode,cache=32767");
  EXPECT_EQ(first.attention().visible_keys(0, 0), 512U);
  EXPECT_EQ(first.model.layers, 22U);
  EXPECT_EQ(first.model.block_text(), "window, 22 of 26 layers; block=2 is full");
  EXPECT_EQ(load_file(file, ",block=2").model.block_text(), "full, 4 of 26 layers; block=1 is window");
  EXPECT_EQ(load_file(R"({"model_type": "llama"})", "").model.block_text(), "");
  const Workload sliding = load_file(file, ",layer_type=sliding_attention,phase=decode,cache=32767");
  EXPECT_EQ(sliding.attention().mask.window, 512U);
  EXPECT_EQ(sliding.attention().visible_keys(0, 0), 512U);
  EXPECT_EQ(sliding.model.layers, 22U);
  EXPECT_EQ(sliding.name().substr(sliding.name().find(',')), ",layer_type=sliding_attention,phase=decode,cache=32767");
  const Workload full = load_file(file, ",phase=decode,layer_type=full_attention,cache=32767");
  EXPECT_EQ(full.attention().mask.window, 0U);
  EXPECT_EQ(full.attention().visible_keys(0, 0), 32768U);
  EXPECT_EQ(full.model.layers, 4U);
  EXPECT_EQ(load_file(file, ",layer_type=full_attention,scope=layer").model.ffn, 6912U);
  EXPECT_EQ(refusal(file, ",layer_type=full_attention,scope=model"),
            "layer_type: scope=model runs all layers; allowed is none");
  EXPECT_EQ(blocks_of(file), "22 window, 4 full");
  EXPECT_EQ(load_file(file, ",block=2").model.layers, 4U);
  EXPECT_EQ(refusal(file, ",layer_type=linear"),
            "layer_type: found 'linear'; allowed: full_attention, sliding_attention");
  EXPECT_NE(
      message_of([&] { load_file(file, ",layer_type=full_attention,layer_type=full_attention"); }).find("given twice"),
      std::string::npos);
  EXPECT_EQ(refusal(R"({"model_type": "llama"})", ",layer_type=sliding_attention"),
            "layer_type: found 'sliding_attention'; allowed is full_attention, as all 32 layers are");
  EXPECT_EQ(load_file(R"({"model_type": "llama"})", ",layer_type=full_attention").model.layers, 32U);
}

// How many layers have a window, of 26 or as many as the file says.
std::uint32_t windowed(const std::string& keys) {
  const std::string file = "{\"num_hidden_layers\": 26, " + keys + "}";
  return load_file(file, ",layer_type=sliding_attention").model.layers;
}

TEST(ModelFile, FamiliesHaveTheirOwnRuleOfWindows) {
  EXPECT_EQ(windowed(R"("model_type": "gemma2")"), 13U);       // every other one
  EXPECT_EQ(windowed(R"("model_type": "gemma3_text")"), 22U);  // all but every sixth
  EXPECT_EQ(windowed(R"("model_type": "cohere2")"), 20U);      // all but every fourth
  EXPECT_EQ(windowed(R"("model_type": "cohere2", "sliding_window_pattern": 2)"), 13U);
  EXPECT_EQ(windowed(R"("model_type": "qwen2", "use_sliding_window": true, "max_window_layers": 20)"), 6U);
  EXPECT_EQ(windowed(R"("model_type": "qwen3", "use_sliding_window": true, "max_window_layers": 0)"), 26U);
  EXPECT_EQ(windowed(R"("model_type": "qwen2_moe", "use_sliding_window": true, "max_window_layers": 21)"), 11U);
  EXPECT_EQ(windowed(R"("model_type": "qwen3_moe", "use_sliding_window": true)"), 26U);
  EXPECT_EQ(windowed(R"("model_type": "mistral")"), 26U);
  // The list of layers, where there is one.
  const std::string three = R"({"model_type": "gemma2", "num_hidden_layers": 3, "layer_types": )";
  EXPECT_EQ(
      load_file(three + R"(["full_attention", "full_attention", "sliding_attention"]})", ",layer_type=full_attention")
          .model.layers,
      2U);
  EXPECT_EQ(load_file(three + R"(["full_attention", "full_attention", "full_attention"]})").model.layers, 3U);
  EXPECT_EQ(refusal(three + R"(["full_attention"]})"),
            "key 'layer_types': found a list of 1; allowed is a list of 3 texts");
  EXPECT_EQ(refusal(three + R"(["full_attention", "full_attention", "linear_attention"]})"),
            "key 'layer_types': found 'linear_attention'; allowed in model_type 'gemma2': full_attention, "
            "sliding_attention");
  EXPECT_EQ(refusal(R"({"model_type": "llama", "num_hidden_layers": 1, "layer_types": ["sliding_attention"]})"),
            "key 'layer_types': found 'sliding_attention'; allowed in model_type 'llama': full_attention");
}

TEST(ModelFile, KeysLeftOutAreTheDefaultsOfTheClass) {
  // The text part of gemma-3-12b, which leaves out what equals its class's defaults.
  const std::string file = R"({"model_type": "gemma3", "vision_config": {"hidden_size": 1152}, "text_config": {
      "model_type": "gemma3_text", "hidden_size": 3840, "intermediate_size": 15360, "num_attention_heads": 16,
      "num_hidden_layers": 48, "num_key_value_heads": 8, "sliding_window": 1024,
      "rope_scaling": {"factor": 8.0, "rope_type": "linear"}}})";
  const Workload n = load_file(file, ",N=32,layer_type=full_attention,scope=layer");
  EXPECT_EQ(n.attention().emb, 256U);
  EXPECT_EQ(n.attention().scale, 1.0F / 16);
  EXPECT_EQ(n.attention().soft_cap, 0);
  EXPECT_EQ(n.model.norm, Norm::kRmsNorm);
  EXPECT_EQ(n.model.norm_place, NormPlace::kBoth);
  EXPECT_EQ(n.model.activation, hal::Activation::kGeluTanh);
  EXPECT_TRUE(n.model.gated && n.model.rotary && n.model.qk_norm);
  EXPECT_EQ(operations_of(n)[1].workload.name(), "gemm:32x8192x3840");
  EXPECT_EQ(refusal(R"({"model_type": "gemma3", "text_config": {"head_dim": -1}})"),
            "key 'text_config.head_dim': found '-1'; allowed is a whole number from 1 to 4294967295");
  EXPECT_EQ(refusal(R"({"model_type": "gemma3", "head_dim": 256})"), "key 'text_config': it is missing, or no map");
  // gemma-3-4b and llava-1.5 leave out more.
  const Workload four = load_file(
      R"({"model_type": "gemma3", "text_config": {"hidden_size": 2560, "intermediate_size": 10240,
          "num_hidden_layers": 34, "sliding_window": 1024}})",
      ",layer_type=sliding_attention");
  EXPECT_EQ(four.attention().heads, 8U);
  EXPECT_EQ(four.attention().kv_heads, 4U);
  EXPECT_EQ(four.model.layers, 29U);
  const Workload llava = load_file(R"({"model_type": "llava", "text_config": {"max_position_embeddings": 4096}})");
  EXPECT_EQ(llava.attention().heads, 32U);
  EXPECT_EQ(llava.attention().emb, 128U);
  EXPECT_EQ(llava.model.ffn, 11008U);
  // A key that is null is given.
  EXPECT_EQ(load_file(R"({"model_type": "mistral"})").attention().kv_heads, 8U);
  EXPECT_EQ(load_file(R"({"model_type": "mistral", "num_key_value_heads": null})").attention().heads_of_kv(), 32U);
  EXPECT_EQ(load_file(R"({"model_type": "mistral"})").attention().mask.window, 4096U);
  EXPECT_EQ(load_file(R"({"model_type": "mistral", "sliding_window": null})").attention().mask.window, 0U);
  const std::string one = R"({"model_type": "gemma2", "num_hidden_layers": 1)";
  EXPECT_EQ(load_file(one + "}").attention().soft_cap, 50);
  EXPECT_EQ(load_file(one + R"(, "attn_logit_softcapping": null})").attention().soft_cap, 0);
  EXPECT_EQ(load_file(R"({"model_type": "qwen3", "hidden_size": 4096, "num_attention_heads": 64})").attention().emb,
            128U);
  EXPECT_EQ(load_file(R"({"model_type": "gpt2", "n_embd": 1024, "n_head": 16})").model.ffn, 4096U);
}

TEST(ModelFile, WindowsThatAreOffAreNone) {
  const std::string qwen2 = R"({"model_type": "qwen2", "num_attention_heads": 16, "num_key_value_heads": 2,
      "hidden_size": 2048, "num_hidden_layers": 36, "sliding_window": 1024)";
  EXPECT_EQ(load_file(qwen2 + R"(, "use_sliding_window": true, "max_window_layers": 36})").attention().mask.window, 0U);
  EXPECT_EQ(load_file(qwen2 + R"(, "use_sliding_window": true, "max_window_layers": 0})").attention().mask.window,
            1024U);
  EXPECT_EQ(load_file(qwen2 + "}").attention().mask.window, 0U);
  for (const char* type : {"qwen3", "qwen2_moe", "qwen3_moe", "llama", "gemma", "phi", "mixtral"}) {
    const bool reads = std::string(type) == "mixtral";  // which has no switch
    EXPECT_EQ(
        load_file(std::string(R"({"model_type": ")") + type + R"(", "sliding_window": 1024})").attention().mask.window,
        reads ? 1024U : 0U)
        << type;
  }
  EXPECT_EQ(load_file(R"({"model_type": "qwen3_moe", "use_sliding_window": false, "sliding_window": 0})")
                .attention()
                .mask.window,
            0U);
  EXPECT_EQ(load_file(R"({"model_type": "phi3", "sliding_window": 2047})").attention().mask.window, 2047U);
}

TEST(ModelFile, ModelsMayLookBothWays) {
  // EmbeddingGemma: half of its window to either side, |q - k| <= 256, in 20 of 24 layers.
  const std::string file =
      R"({"model_type": "gemma3_text", "num_attention_heads": 3, "num_key_value_heads": 1, "head_dim": 256,
          "hidden_size": 768, "intermediate_size": 1152, "num_hidden_layers": 24, "sliding_window": 512,
          "_sliding_window_pattern": 6, "use_bidirectional_attention": true})";
  const Workload sliding = load_file(file, ",N=1024,layer_type=sliding_attention");
  EXPECT_EQ(sliding.attention().mask.causal, 0U);
  EXPECT_EQ(sliding.model.layers, 20U);
  EXPECT_EQ(sliding.attention().visible_keys(0, 0), 257U);
  EXPECT_EQ(sliding.attention().visible_keys(0, 512), 513U);
  const Workload full = load_file(file, ",N=1024,layer_type=full_attention");
  EXPECT_FALSE(full.attention().mask.any());
  EXPECT_EQ(full.model.layers, 4U);
  EXPECT_EQ(load_file(R"({"model_type": "gemma", "use_bidirectional_attention": true})").attention().mask.causal, 0U);
  EXPECT_EQ(load_file(R"({"model_type": "llama", "is_causal": false})").attention().mask.causal, 0U);
  EXPECT_EQ(
      refusal(R"({"model_type": "mistral", "is_causal": false})"),
      "key 'is_causal': with a window allowed is causal attention, as it is not known how far the window reaches");
  for (const char* type : {"bert", "roberta"}) {
    const std::string model = std::string(R"({"model_type": ")") + type + '"';
    EXPECT_EQ(load_file(model + "}").attention().mask.causal, 0U);
    EXPECT_EQ(load_file(model + R"(, "is_decoder": true})").attention().mask.causal, 1U);
    EXPECT_EQ(refusal(model + R"(, "position_embedding_type": "relative_key"})"),
              "key 'position_embedding_type': found 'relative_key'; allowed is 'absolute'");
  }
}

TEST(ModelFile, PositionsAreThoseThatTokensCanHave) {
  EXPECT_EQ(
      load_file(R"({"model_type": "roberta", "max_position_embeddings": 514, "pad_token_id": 1})").attention().seq_q,
      512U);
  EXPECT_EQ(
      load_file(R"({"model_type": "roberta", "max_position_embeddings": 514, "pad_token_id": 0})").attention().seq_q,
      513U);
  EXPECT_EQ(load_file(R"({"model_type": "bert", "max_position_embeddings": 514, "pad_token_id": 0})").attention().seq_q,
            514U);
  EXPECT_EQ(refusal(R"({"model_type": "roberta", "max_position_embeddings": 2})"),
            "key 'max_position_embeddings': found '2'; allowed is more than 'pad_token_id' + 1, 2");
  EXPECT_EQ(load_file(R"({"model_type": "vit"})").attention().seq_q, 197U);
  EXPECT_EQ(load_file(R"({"model_type": "vit", "image_size": 1024, "patch_size": 16})").attention().seq_q, 4097U);
  EXPECT_EQ(load_file(R"({"model_type": "llama", "max_position_embeddings": 131072})").attention().seq_q, 2048U);
}

TEST(ModelFile, GeluIsExactOrTanhByFamily) {
  const auto activation = [](const std::string& keys) {
    return load_file("{" + keys + "}", ",scope=layer").model.activation;
  };
  const hal::Activation exact = hal::Activation::kGelu, tanh = hal::Activation::kGeluTanh;
  EXPECT_EQ(activation(R"("model_type": "gemma", "hidden_act": "gelu")"), tanh);
  EXPECT_EQ(activation(R"("model_type": "gemma", "hidden_act": "gelu", "hidden_activation": null)"), tanh);
  EXPECT_EQ(activation(R"("model_type": "gemma", "hidden_activation": "gelu")"), exact);
  EXPECT_EQ(activation(R"("model_type": "gemma2", "num_hidden_layers": 1, "hidden_act": "gelu")"), tanh);
  EXPECT_EQ(activation(R"("model_type": "gpt2")"), tanh);
  EXPECT_EQ(activation(R"("model_type": "bert", "hidden_act": "gelu")"), exact);
  EXPECT_EQ(activation(R"("model_type": "vit")"), exact);
  EXPECT_EQ(activation(R"("model_type": "llama")"), hal::Activation::kSilu);
  EXPECT_EQ(activation(R"("model_type": "t5")"), hal::Activation::kRelu);
  EXPECT_EQ(activation(R"("model_type": "t5", "feed_forward_proj": "gated-gelu")"), tanh);
  EXPECT_EQ(activation(R"("model_type": "t5", "feed_forward_proj": "gelu")"), exact);
  EXPECT_EQ(activation(R"("model_type": "t5", "feed_forward_proj": "gated-silu")"), hal::Activation::kSilu);
}

TEST(ModelFile, T5HasItsBiasAndNoScale) {
  const Workload n = load_file(R"({"model_type": "t5", "d_ff": 2048, "d_kv": 64, "d_model": 512, "num_heads": 8,
      "num_layers": 6, "n_positions": 512, "feed_forward_proj": "relu", "relative_attention_num_buckets": 32})");
  EXPECT_EQ(n.attention().bias, Bias::kRelative);
  EXPECT_EQ(n.attention().scale, 1);
  EXPECT_FALSE(n.attention().mask.any());
  EXPECT_EQ(n.attention().seq_q, 512U);
  EXPECT_EQ(n.model.norm, Norm::kRmsNorm);
  EXPECT_FALSE(n.model.gated);
  EXPECT_EQ(refusal(R"({"model_type": "t5", "relative_attention_num_buckets": 64})"),
            "key 'relative_attention_num_buckets': found '64'; allowed is 32");
  EXPECT_TRUE(load_file(R"({"model_type": "t5", "feed_forward_proj": "gated-gelu"})", ",scope=layer").model.gated);
}

// The first layers are the encoder's, which have no mask; in decode there are only the decoder's.
TEST(ModelFile, T5AndWhisperHaveAnEncoderAndADecoder) {
  const std::string t5 = R"({"model_type": "t5", "num_decoder_layers": 4})";
  EXPECT_EQ(blocks_of(t5), "6 encoder, 4 cross");
  EXPECT_EQ(load_file(t5, ",N=64,scope=model").model.encoder, 64U);
  EXPECT_EQ(load_file(t5, ",N=64,encoder=100,scope=model").model.encoder, 100U);
  EXPECT_EQ(load_file(t5, ",phase=decode,cache=63,scope=model").model.layers, 4U);
  EXPECT_TRUE(load_file(t5, ",N=64,block=2").attention().mask.any());
  EXPECT_TRUE(load_file(R"({"model_type": "t5", "is_encoder_decoder": false})", ",scope=model").model.blocks.empty());
  const std::string whisper = R"({"model_type": "whisper", "decoder_layers": 2})";
  EXPECT_EQ(blocks_of(whisper), "6 encoder, 2 cross");
  EXPECT_EQ(load_file(whisper).attention().seq_q, 1500U);
  EXPECT_EQ(load_file(whisper, ",block=2").attention().seq_kv, 448U);
  EXPECT_EQ(load_file(whisper, ",scope=model").model.mel_bins, 80U);
  EXPECT_EQ(refusal(R"({"model_type": "whisper", "decoder_ffn_dim": 8})"),
            "key 'decoder_ffn_dim': found '8'; allowed is that of 'encoder_ffn_dim', 1536");
}

TEST(ModelFile, NumbersThatPythonWritesAreRead) {
  const std::string llama = R"({"model_type": "llama", "num_attention_heads": 2, "hidden_size": 64)";
  EXPECT_EQ(
      load_file(llama + R"(, "limit": [0.0, Infinity, -Infinity, NaN], "note": "Infinity\"NaN"})").attention().heads,
      2U);
  EXPECT_EQ(refusal(llama + R"(, "head_dim": Infinity})"),
            "key 'head_dim': found 'Infinity'; allowed is a whole number from 1 to 4294967295");
  const auto whole = [](const std::string& json) { return message_of([&] { load_file(json); }); };
  EXPECT_EQ(whole("{\"a\": NaN,\n \"b\": -Infinity, \"c\": }"),
            "config.json:2: is not valid JSON: the mistake is in column 23");
  EXPECT_EQ(whole("{\"model_type\": \"llama\""), "config.json:1: is not valid JSON: the mistake is in column 23");
  EXPECT_EQ(whole(std::string(1000, '[')), "config.json:1: is nested more than 100 levels deep in column 101");
  EXPECT_EQ(whole("{\"a\": 1e999}"), "config.json: holds a number that is out of range");
  EXPECT_EQ(whole("{\"a\": \"\xff\"}"), "config.json:1: is not valid JSON: the mistake is in column 8");
  EXPECT_EQ(load_file("\xEF\xBB\xBF" + llama + "}").attention().heads, 2U);
  EXPECT_EQ(whole("[1]"), "config.json: not a JSON object");
  EXPECT_EQ(whole(""), "config.json:1: is not valid JSON: the mistake is in column 1");
}

TEST(ModelFile, FilesOfMegabytesAreRead) {
  std::string file = R"({"model_type": "llama", "num_attention_heads": 2, "hidden_size": 64, "quantization_config": {)";
  for (int i = 0; i < 70'000; ++i)
    file += "\"model.layers." + std::to_string(i) + ".mlp.gate_proj.weight.scale\": 1,\n";
  ASSERT_GT(file.size(), 3U << 20);
  EXPECT_EQ(load_file(file + R"("last": 1}})").attention().emb, 32U);
}

TEST(ModelFile, ValuesSayWhereTheyComeFrom) {
  const TemporaryFolder folder;
  folder.write("m/config.json", kGemma3 + "}");
  const Provenances of_keys = network_provenance("hf:m,layer_type=full_attention,batch=2");
  EXPECT_EQ(of_keys.at("emb").text(), "published key 'head_dim' of the file");
  EXPECT_EQ(of_keys.at("batch").kind, ProvenanceKind::kSet);
  folder.write("n/config.json", R"({"model_type": "gemma", "num_attention_heads": 16})");
  EXPECT_EQ(network_provenance("hf:n").at("emb").text(), "published default of GemmaConfig for key 'head_dim'");
  EXPECT_EQ(network_provenance("llama3.1-8b,batch=2").at("batch").kind, ProvenanceKind::kSet);
  EXPECT_EQ(network_provenance("llama3.1-8b,batch=2").at("heads").kind, ProvenanceKind::kPublished);
}

// A shipped network and a published configuration of the model say the same.
struct Shipped {
  const char *network, *file, *words;
  bool attention;  // otherwise of a paper's table, which leaves out the scale: the layer alone is the model's
};
const Shipped kShipped[] = {
    {"deepseek-v3",
     R"("model_type": "deepseek_v3", "num_attention_heads": 128, "num_key_value_heads": 128, "hidden_size": 7168,
        "vocab_size": 129280, "intermediate_size": 18432, "num_hidden_layers": 61, "kv_lora_rank": 512, "qk_rope_head_dim": 64,
        "qk_nope_head_dim": 128, "max_position_embeddings": 163840,
        "rope_scaling": {"type": "yarn", "factor": 40, "mscale": 1.0, "mscale_all_dim": 1.0})",
     "", true},
    {"gemma2-9b",
     R"("model_type": "gemma2", "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 256,
        "hidden_size": 3584, "intermediate_size": 14336, "num_hidden_layers": 42, "sliding_window": 4096,
        "query_pre_attn_scalar": 256, "hidden_act": "gelu_pytorch_tanh", "attn_logit_softcapping": 50.0)",
     ",layer_type=full_attention", true},
    {"gpt2",
     R"("model_type": "gpt2", "n_head": 12, "n_embd": 768, "n_layer": 12, "n_positions": 1024,
        "activation_function": "gelu_new")",
     "", true},
    {"llama2-7b",
     R"("model_type": "llama", "num_attention_heads": 32, "num_key_value_heads": 32, "hidden_size": 4096,
        "intermediate_size": 11008, "num_hidden_layers": 32, "hidden_act": "silu", "max_position_embeddings": 4096)",
     "", true},
    {"llama3.1-8b",
     R"("model_type": "llama", "num_attention_heads": 32, "num_key_value_heads": 8, "hidden_size": 4096,
        "intermediate_size": 14336, "num_hidden_layers": 32, "hidden_act": "silu", "max_position_embeddings": 131072)",
     "", true},
    {"llama3.1-70b",
     R"("model_type": "llama", "num_attention_heads": 64, "num_key_value_heads": 8, "hidden_size": 8192,
        "intermediate_size": 28672, "num_hidden_layers": 80, "hidden_act": "silu", "max_position_embeddings": 131072)",
     "", true},
    {"mistral-7b",
     R"("model_type": "mistral", "num_attention_heads": 32, "num_key_value_heads": 8, "hidden_size": 4096,
        "intermediate_size": 14336, "num_hidden_layers": 32, "hidden_act": "silu", "sliding_window": 4096)",
     "", true},
    {"phi3-mini",
     R"("model_type": "phi3", "num_attention_heads": 32, "num_key_value_heads": 32, "hidden_size": 3072,
        "intermediate_size": 8192, "num_hidden_layers": 32, "hidden_act": "silu", "sliding_window": 2047)",
     "", true},
    {"qwen2.5-7b",
     R"("model_type": "qwen2", "num_attention_heads": 28, "num_key_value_heads": 4, "hidden_size": 3584,
        "intermediate_size": 18944, "num_hidden_layers": 28, "hidden_act": "silu", "sliding_window": 131072,
        "use_sliding_window": false, "max_window_layers": 28)",
     "", true},
    {"qwen3-8b",
     R"("model_type": "qwen3", "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
        "hidden_size": 4096, "intermediate_size": 12288, "num_hidden_layers": 36, "hidden_act": "silu",
        "sliding_window": null)",
     "", true},
    {"qwen3-14b",
     R"("model_type": "qwen3", "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128,
        "hidden_size": 5120, "intermediate_size": 17408, "num_hidden_layers": 40, "hidden_act": "silu",
        "sliding_window": null)",
     "", true},
    {"gemma3-12b",
     R"("model_type": "gemma3_text", "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 256,
        "hidden_size": 3840, "intermediate_size": 15360, "num_hidden_layers": 48, "sliding_window": 1024,
        "query_pre_attn_scalar": 256)",
     ",layer_type=full_attention", true},
    {"gemma3-27b",
     R"("model_type": "gemma3_text", "num_attention_heads": 32, "num_key_value_heads": 16, "head_dim": 128,
        "hidden_size": 5376, "intermediate_size": 21504, "num_hidden_layers": 62, "sliding_window": 1024,
        "query_pre_attn_scalar": 168)",
     ",layer_type=full_attention", true},
    {"qwen3-32b",
     R"("model_type": "qwen3", "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 128,
        "hidden_size": 5120, "intermediate_size": 25600, "num_hidden_layers": 64, "hidden_act": "silu",
        "sliding_window": null)",
     "", true},
    {"bert-base", R"("model_type": "bert")", "", false},
    {"bert-large", R"("model_type": "bert", "num_attention_heads": 16, "hidden_size": 1024, "intermediate_size": 4096)",
     "", false},
    {"vit-b-14", R"("model_type": "vit", "patch_size": 14)", "", false},
    {"vit-h-16", R"("model_type": "vit", "num_attention_heads": 16, "hidden_size": 1280, "intermediate_size": 5120)",
     "", false},
    {"vit-l-14", R"("model_type": "vit", "num_attention_heads": 16, "hidden_size": 1024, "intermediate_size": 4096)",
     "", false},
    {"vit-b-16", R"("model_type": "vit")", "", false},
    {"vit-l-16", R"("model_type": "vit", "num_attention_heads": 16, "hidden_size": 1024, "intermediate_size": 4096)",
     "", false},
    {"vit-h-14", R"("model_type": "vit", "num_attention_heads": 16, "hidden_size": 1280, "intermediate_size": 5120)",
     "", false}};

TEST(ModelFile, ShippedNetworksFollowTheSameRules) {
  // MAS-Attention's own shapes, or a model type that is not read.
  std::set<std::string> rest = {"bert-small", "llama3-8b", "t5-mini", "xlm"};
  for (const Shipped& s : kShipped) rest.insert(s.network);
  for (const CatalogEntry& entry : list(Folder::kNetworks)) EXPECT_EQ(rest.erase(entry.name), 1U) << entry.name;
  EXPECT_TRUE(rest.empty());
  for (const Shipped& s : kShipped) {
    const Workload shipped = load(s.network), file = load_file("{" + std::string(s.file) + "}", s.words);
    EXPECT_EQ(shipped.attention().heads, file.attention().heads) << s.network;
    EXPECT_EQ(shipped.attention().heads_of_kv(), file.attention().heads_of_kv()) << s.network;
    EXPECT_EQ(shipped.attention().emb, file.attention().emb) << s.network;
    EXPECT_EQ(shipped.attention().values(), file.attention().values()) << s.network;
    EXPECT_EQ(shipped.model.hidden, file.model.hidden) << s.network;
    EXPECT_EQ(shipped.model.ffn, file.model.ffn) << s.network;
    EXPECT_EQ(shipped.model.gated, file.model.gated) << s.network;
    EXPECT_EQ(shipped.model.norm, file.model.norm) << s.network;
    EXPECT_EQ(shipped.model.norm_place, file.model.norm_place) << s.network;
    EXPECT_EQ(shipped.model.activation, file.model.activation) << s.network;
    EXPECT_EQ(shipped.model.rotary, file.model.rotary) << s.network;
    EXPECT_EQ(shipped.model.qk_norm, file.model.qk_norm) << s.network;
    EXPECT_EQ(shipped.attention().mask.causal, file.attention().mask.causal) << s.network;
    if (!s.attention) continue;
    EXPECT_EQ(shipped.model.layers, file.model.layers) << s.network;
    EXPECT_EQ(shipped.attention().mask.window, file.attention().mask.window) << s.network;
    EXPECT_EQ(shipped.attention().seq_q, file.attention().seq_q) << s.network;
    EXPECT_EQ(shipped.attention().soft_cap, file.attention().soft_cap) << s.network;
    EXPECT_NEAR(shipped.attention().scale, file.attention().scale, 1e-7) << s.network;
  }
}

TEST(ModelFile, RefusesWhatIsNoModel) {
  EXPECT_EQ(refusal("{}"), "key 'model_type': it is missing");
  EXPECT_EQ(refusal(R"({"model_type": 7})"), "key 'model_type': found '7'; allowed is a text");
  EXPECT_EQ(refusal(R"({"model_type": "mamba"})").find("key 'model_type': found 'mamba'; allowed: bert, "), 0U);
  EXPECT_EQ(refusal(R"({"model_type": "llama", "num_attention_heads": "many"})"),
            "key 'num_attention_heads': found 'many'; allowed is a whole number from 1 to 4294967295");
  EXPECT_EQ(refusal(R"({"model_type": "llama", "num_attention_heads": {"a": [1]}})"),
            "key 'num_attention_heads': found a map; allowed is a whole number from 1 to 4294967295");
  EXPECT_EQ(refusal(R"({"model_type": "llama", "num_attention_heads": 3, "hidden_size": 100})"),
            "key 'hidden_size': found 100, no multiple of 3 heads");
  EXPECT_EQ(refusal(R"({"model_type": "llama", "num_attention_heads": 3, "num_key_value_heads": 2})"),
            "key 'num_key_value_heads': found 2; allowed is a divisor of 3 heads");
  EXPECT_EQ(refusal(R"({"model_type": "llama", "num_hidden_layers": 4000000000})"),
            "key 'num_hidden_layers': found 4000000000; allowed is 1 to 1024");
  EXPECT_EQ(refusal(R"({"model_type": "gpt2", "scale_attn_by_inverse_layer_idx": true})"),
            "key 'scale_attn_by_inverse_layer_idx': found 'true'; allowed is false, as layers would differ");
  EXPECT_EQ(message_of([] { load("hf:,batch=2"); }), "--net hf: names no file; allowed is hf:FOLDER or hf:FILE.json");
  EXPECT_EQ(message_of([] { load("hf:/no/such"); }), "/no/such: no such file");
}

}  // namespace
}  // namespace attnvp::workload
