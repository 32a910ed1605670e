// Source of defaults: configuration classes of Transformers 5, src/transformers/models/*/configuration_*.py. Source of
// structures: modeling_*.py beside them.
#include "platform/workload/hugging_face/model_family.h"

namespace attnvp::workload {

namespace {

ModelFamily llama() {
  ModelFamily f;
  f.config_class = "LlamaConfig";
  f.defaults.vocabulary = 32000;
  f.defaults.hidden = 4096;
  f.defaults.ffn = 11008;
  f.defaults.layers = f.defaults.heads = 32;
  f.defaults.positions = 2048;
  return f;
}

ModelFamily mistral() {
  ModelFamily f = llama();
  f.config_class = "MistralConfig";
  f.defaults.ffn = 14336;
  f.defaults.kv_heads = 8;
  f.defaults.positions = 131072;
  f.defaults.window = 4096;
  f.windows = WindowRule::kAll;
  return f;
}

ModelFamily mixtral() {
  ModelFamily f = mistral();
  f.config_class = "MixtralConfig";
  f.defaults.window = 0;
  f.experts.rule = ExpertRule::kAll;
  f.experts.count_default = 8;
  f.experts.chosen_default = 2;
  return f;
}

ModelFamily phimoe() {
  ModelFamily f = mixtral();
  f.config_class = "PhimoeConfig";
  f.defaults.vocabulary = 32064;
  f.defaults.ffn = 6400;
  f.rms_norm = false;
  f.experts.count_default = 16;
  return f;
}

ModelFamily qwen2() {
  ModelFamily f = llama();
  f.config_class = "Qwen2Config";
  f.defaults.vocabulary = 151936;
  f.defaults.ffn = 22016;
  f.defaults.kv_heads = 32;
  f.defaults.positions = 32768;
  f.defaults.window = 4096;
  f.defaults.max_window_layers = 28;
  f.windows = WindowRule::kFrom;
  return f;
}

ModelFamily qwen3() {
  ModelFamily f = qwen2();
  f.config_class = "Qwen3Config";
  f.defaults.head_dim = 128;
  f.qk_norm = true;
  return f;
}

ModelFamily qwen2_moe() {
  ModelFamily f = qwen2();
  f.config_class = "Qwen2MoeConfig";
  f.defaults.hidden = 2048;
  f.defaults.ffn = 5632;
  f.defaults.layers = 24;
  f.defaults.heads = f.defaults.kv_heads = 16;
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
  f.config_class = "Qwen3MoeConfig";
  f.defaults.ffn = 6144;
  f.defaults.heads = 32;
  f.defaults.kv_heads = 4;
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
  f.config_class = "GemmaConfig";
  f.defaults.vocabulary = 256000;
  f.defaults.tied = true;
  f.defaults.hidden = 3072;
  f.defaults.ffn = 24576;
  f.defaults.layers = 28;
  f.defaults.heads = f.defaults.kv_heads = 16;
  f.defaults.head_dim = 256;
  f.defaults.positions = 8192;
  // hidden_act in Gemma's files is "gelu"; the model was trained with, and its code uses, the tanh form.
  f.keys.activation = "hidden_activation";
  f.defaults.activation = "gelu_pytorch_tanh";
  f.bidirectional_key = true;
  return f;
}

ModelFamily gemma2() {
  ModelFamily f = gemma();
  f.config_class = "Gemma2Config";
  f.defaults.hidden = 2304;
  f.defaults.ffn = 9216;
  f.defaults.layers = 26;
  f.defaults.heads = 8;
  f.defaults.kv_heads = 4;
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
  f.config_class = "Gemma3TextConfig";
  f.defaults.vocabulary = 262208;
  f.defaults.positions = 131072;
  f.defaults.pattern = 6;
  f.pattern_key = true;
  f.defaults.soft_cap = 0;
  f.half_window = true;
  f.qk_norm = true;
  return f;
}

ModelFamily deepseek_v2() {
  ModelFamily f = llama();
  f.config_class = "DeepseekV2Config";
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
  f.config_class = "DeepseekV3Config";
  f.defaults.vocabulary = 129280;
  f.defaults.hidden = 7168;
  f.defaults.ffn = 18432;
  f.defaults.layers = 61;
  f.defaults.heads = 128;
  f.defaults.positions = 4096;
  f.experts.count_default = 256;
  f.experts.chosen_default = 8;
  f.experts.ffn_default = 2048;
  f.experts.shared_default = 1;
  f.experts.dense_default = 3;
  return f;
}

ModelFamily llama4() {
  ModelFamily f = llama();
  f.config_class = "Llama4TextConfig";
  f.defaults.vocabulary = 202048;
  f.defaults.hidden = 5120;
  f.defaults.ffn = 8192;
  f.defaults.layers = 48;
  f.defaults.heads = 40;
  f.defaults.kv_heads = 8;
  f.defaults.head_dim = 128;
  f.defaults.positions = 131072;
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
  ModelFamily f = llama();
  f.config_class = "Olmo2Config";
  f.defaults.vocabulary = 50304;
  f.norm_place = "behind";
  f.qk_norm = true;
  return f;
}

ModelFamily starcoder2() {
  ModelFamily f;
  f.config_class = "Starcoder2Config";
  f.defaults.vocabulary = 49152;
  f.defaults.tied = true;
  f.defaults.hidden = 3072;
  f.defaults.ffn = 12288;
  f.defaults.layers = 30;
  f.defaults.heads = 24;
  f.defaults.kv_heads = 2;
  f.defaults.positions = 4096;
  f.defaults.activation = "gelu_pytorch_tanh";
  f.keys.head_dim = nullptr;
  f.windows = WindowRule::kAll;
  f.rms_norm = f.gated = false;
  return f;
}

ModelFamily glm() {
  ModelFamily f;
  f.config_class = "GlmConfig";
  f.defaults.vocabulary = 151552;
  f.defaults.hidden = 4096;
  f.defaults.ffn = 13696;
  f.defaults.layers = 40;
  f.defaults.heads = 32;
  f.defaults.kv_heads = 2;
  f.defaults.head_dim = 128;
  f.defaults.positions = 131072;
  f.rotary_share = 0.5;
  return f;
}

ModelFamily glm4() {
  ModelFamily f = glm();
  f.config_class = "Glm4Config";
  f.norm_place = "both";
  return f;
}

ModelFamily phi() {
  ModelFamily f;
  f.config_class = "PhiConfig";
  f.defaults.vocabulary = 51200;
  f.defaults.hidden = 2048;
  f.defaults.ffn = 8192;
  f.defaults.layers = 24;
  f.defaults.heads = 32;
  f.defaults.positions = 2048;
  f.defaults.activation = "gelu_new";
  f.rms_norm = f.gated = false;
  f.rotary_share = 0.5;
  f.order = "parallel";
  return f;
}

ModelFamily phi3() {
  ModelFamily f = llama();
  f.config_class = "Phi3Config";
  f.defaults.vocabulary = 32064;
  f.defaults.hidden = 3072;
  f.defaults.ffn = 8192;
  f.defaults.positions = 4096;
  f.windows = WindowRule::kAll;
  return f;
}

ModelFamily cohere2() {
  ModelFamily f;
  f.config_class = "Cohere2Config";
  f.defaults.vocabulary = 256000;
  f.defaults.tied = true;
  f.defaults.hidden = 8192;
  f.defaults.ffn = 22528;
  f.defaults.layers = 40;
  f.defaults.heads = 64;
  f.defaults.positions = 8192;
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
  f.config_class = "GptOssConfig";
  f.defaults.vocabulary = 201088;
  f.defaults.hidden = f.defaults.ffn = 2880;
  f.defaults.layers = 36;
  f.defaults.heads = 64;
  f.defaults.kv_heads = 8;
  f.defaults.head_dim = 64;
  f.defaults.positions = 131072;
  f.defaults.window = 128;
  f.defaults.pattern = 2;
  f.windows = WindowRule::kPattern;
  f.sinks = true;
  f.experts.rule = ExpertRule::kAll;
  f.experts.count_default = 128;
  f.experts.chosen_default = 4;
  return f;
}

}  // namespace

std::map<std::string, ModelFamily> llama_families() {
  return {{"cohere2", cohere2()},
          {"deepseek_v2", deepseek_v2()},
          {"deepseek_v3", deepseek_v3()},
          {"gemma", gemma()},
          {"gemma2", gemma2()},
          {"gemma3_text", gemma3()},
          {"glm", glm()},
          {"glm4", glm4()},
          {"gpt_oss", gpt_oss()},
          {"kimi_k2", deepseek_v3()},
          {"llama", llama()},
          {"llama4_text", llama4()},
          {"mistral", mistral()},
          {"mixtral", mixtral()},
          {"olmo2", olmo2()},
          {"phi", phi()},
          {"phi3", phi3()},
          {"phimoe", phimoe()},
          {"qwen2", qwen2()},
          {"qwen2_moe", qwen2_moe()},
          {"qwen3", qwen3()},
          {"qwen3_moe", qwen3_moe()},
          {"starcoder2", starcoder2()}};
}

}  // namespace attnvp::workload
