// Latent attention, experts, decoders behind encoders, and what is no model.
#include <cmath>

#include "platform/machine/catalog.h"
#include "platform/machine/provenance.h"
#include "platform/workload/keys.h"
#include "platform/workload/layers.h"
#include "tests/platform/workload/model_files.h"

namespace attnvp::workload {

using namespace config;

namespace {

using attnvp::testing::message_of;
using attnvp::testing::TemporaryFolder;

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
