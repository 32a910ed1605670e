// Source of defaults: configuration classes of Transformers 5, src/transformers/models/*/configuration_*.py. Source of
// structures: modeling_*.py beside them.
#include "platform/workload/hugging_face/model_family.h"

namespace attnvp::workload {

namespace {

ModelFamily mistral() {
  ModelFamily f;
  f.defaults.window = 4096;
  f.windows = WindowRule::kAll;
  return f;
}

ModelFamily mixtral() {
  ModelFamily f = mistral();
  f.defaults.window = 0;
  f.experts = {.rule = ExpertRule::kAll, .count_default = 8, .chosen_default = 2};
  return f;
}

ModelFamily phimoe() {
  ModelFamily f = mixtral();
  f.rms_norm = false;
  f.experts.count_default = 16;
  return f;
}

ModelFamily qwen2() {
  ModelFamily f;
  f.defaults.window = 4096;
  f.defaults.max_window_layers = 28;
  f.windows = WindowRule::kFrom;
  return f;
}

ModelFamily qwen3() {
  ModelFamily f = qwen2();
  f.qk_norm = true;
  return f;
}

ModelFamily qwen2_moe() {
  ModelFamily f = qwen2();
  f.windows = WindowRule::kAlternate;
  f.experts.rule = ExpertRule::kSparseStep;
  f.experts.count = "num_experts";
  f.experts.count_default = 60;
  f.experts.chosen_default = 4;
  f.experts.ffn = "moe_intermediate_size";
  f.experts.ffn_default = 1408;
  f.experts.shared = "shared_expert_intermediate_size";
  f.experts.shared_default = 5632;
  return f;
}

ModelFamily qwen3_moe() {
  ModelFamily f = qwen2_moe();
  f.windows = WindowRule::kIfUsed;
  f.qk_norm = true;
  f.experts.count_default = 128;
  f.experts.chosen_default = 8;
  f.experts.ffn_default = 768;
  f.experts.shared = nullptr;
  return f;
}

ModelFamily gemma() {
  ModelFamily f;
  // hidden_act in Gemma's files is "gelu"; the model was trained with, and its code uses, the tanh form.
  f.keys.activation = "hidden_activation";
  f.defaults.activation = "gelu_pytorch_tanh";
  f.bidirectional_key = true;
  return f;
}

ModelFamily gemma2() {
  ModelFamily f = gemma();
  f.defaults.window = 4096;
  f.defaults.pattern = 2;
  f.windows = WindowRule::kPattern;
  f.defaults.query_scalar = 256;
  f.scale = ScoreScale::kQueryScalar;
  f.defaults.soft_cap = 50;
  f.soft_cap_key = true;
  f.norm_place = "both";
  return f;
}

ModelFamily gemma3() {
  ModelFamily f = gemma2();
  f.defaults.pattern = 6;
  f.pattern_key = true;
  f.defaults.soft_cap = 0;
  f.half_window = true;
  f.qk_norm = true;
  return f;
}

ModelFamily deepseek_v2() {
  ModelFamily f;
  f.latent = true;
  f.experts.rule = ExpertRule::kFirstDense;
  f.experts.count = "n_routed_experts";
  f.experts.count_default = 64;
  f.experts.ffn = "moe_intermediate_size";
  f.experts.ffn_default = 1407;
  f.experts.shared = "n_shared_experts";
  f.experts.shared_default = 2;
  f.experts.shared_is_count = true;
  return f;
}

// Also Kimi K2, whose configuration class is DeepSeek-V3's.
ModelFamily deepseek_v3() {
  ModelFamily f = deepseek_v2();
  f.experts.count_default = 256;
  f.experts.chosen_default = 8;
  f.experts.ffn_default = 2048;
  f.experts.shared_default = 1;
  f.experts.dense_default = 3;
  return f;
}

ModelFamily llama4() {
  ModelFamily f;
  f.windows = WindowRule::kChunks;
  f.qk_norm = true;
  f.experts.rule = ExpertRule::kInterleaved;
  f.experts.count_default = 16;
  f.experts.chosen_default = 1;
  f.experts.shared = "intermediate_size";
  f.experts.shared_default = 8192;
  f.dense_ffn = "intermediate_size_mlp";
  f.dense_ffn_default = 16384;
  return f;
}

ModelFamily olmo2() {
  ModelFamily f;
  f.norm_place = "behind";
  f.qk_norm = true;
  return f;
}

ModelFamily starcoder2() {
  ModelFamily f;
  f.defaults.activation = "gelu_pytorch_tanh";
  f.keys.head_dim = nullptr;
  f.windows = WindowRule::kAll;
  f.rms_norm = f.gated = false;
  return f;
}

ModelFamily glm() {
  ModelFamily f;
  f.rotary_share = 0.5;
  return f;
}

ModelFamily glm4() {
  ModelFamily f = glm();
  f.norm_place = "both";
  return f;
}

ModelFamily phi() {
  ModelFamily f;
  f.defaults.activation = "gelu_new";
  f.rms_norm = f.gated = false;
  f.rotary_share = 0.5;
  f.order = "parallel";
  return f;
}

ModelFamily phi3() {
  ModelFamily f;
  f.windows = WindowRule::kAll;
  return f;
}

ModelFamily cohere2() {
  ModelFamily f;
  f.defaults.window = 4096;
  f.defaults.pattern = 4;
  f.pattern_key = true;
  f.windows = WindowRule::kPattern;
  f.rms_norm = false;
  f.order = "parallel";
  f.rotary_in_windows = true;
  return f;
}

ModelFamily gpt_oss() {
  ModelFamily f;
  f.defaults.window = 128;
  f.defaults.pattern = 2;
  f.windows = WindowRule::kPattern;
  f.sinks = true;
  f.experts = {.rule = ExpertRule::kAll, .count_default = 128, .chosen_default = 4};
  return f;
}

}  // namespace

// Sizes: hidden, ffn, layers, heads, K/V heads, head width, positions, vocabulary, tied.
std::vector<ModelFamilyRow> llama_families() {
  return {{"cohere2", "Cohere2Config", {8192, 22528, 40, 64, 0, 0, 8192, 256000, true}, cohere2()},
          {"deepseek_v2", "DeepseekV2Config", {4096, 11008, 32, 32, 0, 0, 2048, 32000}, deepseek_v2()},
          {"deepseek_v3", "DeepseekV3Config", {7168, 18432, 61, 128, 0, 0, 4096, 129280}, deepseek_v3()},
          {"gemma", "GemmaConfig", {3072, 24576, 28, 16, 16, 256, 8192, 256000, true}, gemma()},
          {"gemma2", "Gemma2Config", {2304, 9216, 26, 8, 4, 256, 8192, 256000, true}, gemma2()},
          {"gemma3_text", "Gemma3TextConfig", {2304, 9216, 26, 8, 4, 256, 131072, 262208, true}, gemma3()},
          {"glm", "GlmConfig", {4096, 13696, 40, 32, 2, 128, 131072, 151552}, glm()},
          {"glm4", "Glm4Config", {4096, 13696, 40, 32, 2, 128, 131072, 151552}, glm4()},
          {"gpt_oss", "GptOssConfig", {2880, 2880, 36, 64, 8, 64, 131072, 201088}, gpt_oss()},
          {"kimi_k2", "DeepseekV3Config", {7168, 18432, 61, 128, 0, 0, 4096, 129280}, deepseek_v3()},
          {"llama", "LlamaConfig", {4096, 11008, 32, 32, 0, 0, 2048, 32000}, {}},
          {"llama4_text", "Llama4TextConfig", {5120, 8192, 48, 40, 8, 128, 131072, 202048}, llama4()},
          {"mistral", "MistralConfig", {4096, 14336, 32, 32, 8, 0, 131072, 32000}, mistral()},
          {"mixtral", "MixtralConfig", {4096, 14336, 32, 32, 8, 0, 131072, 32000}, mixtral()},
          {"olmo2", "Olmo2Config", {4096, 11008, 32, 32, 0, 0, 2048, 50304}, olmo2()},
          {"phi", "PhiConfig", {2048, 8192, 24, 32, 0, 0, 2048, 51200}, phi()},
          {"phi3", "Phi3Config", {3072, 8192, 32, 32, 0, 0, 4096, 32064}, phi3()},
          {"phimoe", "PhimoeConfig", {4096, 6400, 32, 32, 8, 0, 131072, 32064}, phimoe()},
          {"qwen2", "Qwen2Config", {4096, 22016, 32, 32, 32, 0, 32768, 151936}, qwen2()},
          {"qwen2_moe", "Qwen2MoeConfig", {2048, 5632, 24, 16, 16, 0, 32768, 151936}, qwen2_moe()},
          {"qwen3", "Qwen3Config", {4096, 22016, 32, 32, 32, 128, 32768, 151936}, qwen3()},
          {"qwen3_moe", "Qwen3MoeConfig", {2048, 6144, 24, 32, 4, 0, 32768, 151936}, qwen3_moe()},
          {"starcoder2", "Starcoder2Config", {3072, 12288, 30, 24, 2, 0, 4096, 49152, true}, starcoder2()}};
}

}  // namespace attnvp::workload
