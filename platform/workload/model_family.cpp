// Source of defaults: configuration classes of Transformers 5, src/transformers/models/*/configuration_*.py. Source of
// structures: modeling_*.py beside them.
#include "platform/workload/model_family.h"

namespace attnvp::workload {

namespace {

ModelFamily llama() {
  ModelFamily f;
  f.config_class = "LlamaConfig";
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
  f.experts = true;
  return f;
}

ModelFamily qwen2() {
  ModelFamily f = llama();
  f.config_class = "Qwen2Config";
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
  f.experts = true;
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
  return f;
}

ModelFamily gemma() {
  ModelFamily f;
  f.config_class = "GemmaConfig";
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
  f.experts = true;
  return f;
}

ModelFamily deepseek_v3() {
  ModelFamily f = deepseek_v2();
  f.config_class = "DeepseekV3Config";
  f.defaults.hidden = 7168;
  f.defaults.ffn = 18432;
  f.defaults.layers = 61;
  f.defaults.heads = 128;
  f.defaults.positions = 4096;
  return f;
}

ModelFamily phi() {
  ModelFamily f;
  f.config_class = "PhiConfig";
  f.defaults.hidden = 2048;
  f.defaults.ffn = 8192;
  f.defaults.layers = 24;
  f.defaults.heads = 32;
  f.defaults.positions = 2048;
  f.defaults.activation = "gelu_new";
  f.rms_norm = f.gated = false;
  f.rotary_share = 0.5;
  f.parallel = true;
  return f;
}

ModelFamily phi3() {
  ModelFamily f = llama();
  f.config_class = "Phi3Config";
  f.defaults.hidden = 3072;
  f.defaults.ffn = 8192;
  f.defaults.positions = 4096;
  f.windows = WindowRule::kAll;
  return f;
}

ModelFamily cohere2() {
  ModelFamily f;
  f.config_class = "Cohere2Config";
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
  f.parallel = true;  // layers without a window are not rotary either
  return f;
}

ModelFamily gpt_oss() {
  ModelFamily f;
  f.config_class = "GptOssConfig";
  f.refused = "every head of its attention has a learned sink logit, which a network cannot express";
  return f;
}

ModelFamily gpt2() {
  ModelFamily f;
  f.config_class = "GPT2Config";
  f.keys = {"n_head", "n_layer", "n_embd", "n_inner", nullptr, "n_positions", "activation_function"};
  f.defaults.hidden = 768;
  f.defaults.layers = f.defaults.heads = 12;
  f.defaults.positions = 1024;
  f.defaults.activation = "gelu_new";
  f.kv_heads_key = f.rms_norm = f.gated = f.rotary = false;
  return f;
}

ModelFamily encoder() {
  ModelFamily f;
  f.keys.head_dim = nullptr;
  f.defaults.hidden = 768;
  f.defaults.ffn = 3072;
  f.defaults.layers = f.defaults.heads = 12;
  f.defaults.activation = "gelu";
  f.causal = f.kv_heads_key = f.rms_norm = f.gated = f.rotary = false;
  return f;
}

ModelFamily bert() {
  ModelFamily f = encoder();
  f.config_class = "BertConfig";
  f.defaults.positions = 512;
  f.decoder_flag = true;
  f.norm_place = "post";
  return f;
}

ModelFamily roberta() {
  ModelFamily f = bert();
  f.config_class = "RobertaConfig";
  f.positions = Positions::kAfterPadding;
  return f;
}

ModelFamily vit() {
  ModelFamily f = encoder();
  f.config_class = "ViTConfig";
  f.positions = Positions::kPatches;
  return f;
}

ModelFamily t5() {
  ModelFamily f;
  f.config_class = "T5Config";
  f.keys = {"num_heads", "num_layers", "d_model", "d_ff", "d_kv", "n_positions", "dense_act_fn"};
  f.defaults.hidden = 512;
  f.defaults.ffn = 2048;
  f.defaults.layers = 6;
  f.defaults.heads = 8;
  f.defaults.head_dim = 64;
  f.causal = f.kv_heads_key = f.gated = f.rotary = false;
  f.relative = true;
  f.scale = ScoreScale::kOne;
  f.encoder_decoder = true;
  return f;
}

}  // namespace

const std::map<std::string, ModelFamily>& model_families() {
  static const std::map<std::string, ModelFamily> all = {{"bert", bert()},
                                                         {"cohere2", cohere2()},
                                                         {"deepseek_v2", deepseek_v2()},
                                                         {"deepseek_v3", deepseek_v3()},
                                                         {"gemma", gemma()},
                                                         {"gemma2", gemma2()},
                                                         {"gemma3_text", gemma3()},
                                                         {"gpt2", gpt2()},
                                                         {"gpt_oss", gpt_oss()},
                                                         {"llama", llama()},
                                                         {"mistral", mistral()},
                                                         {"mixtral", mixtral()},
                                                         {"phi", phi()},
                                                         {"phi3", phi3()},
                                                         {"qwen2", qwen2()},
                                                         {"qwen2_moe", qwen2_moe()},
                                                         {"qwen3", qwen3()},
                                                         {"qwen3_moe", qwen3_moe()},
                                                         {"roberta", roberta()},
                                                         {"t5", t5()},
                                                         {"vit", vit()}};
  return all;
}

std::string text_model_type(const std::string& outer_type) {
  static const std::map<std::string, std::string> types = {
      {"gemma3", "gemma3_text"}, {"llava", "llama"}, {"llava_next", "llama"}};
  const auto found = types.find(outer_type);
  return found == types.end() ? std::string() : found->second;
}

}  // namespace attnvp::workload
