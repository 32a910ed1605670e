// Source of defaults: configuration classes of Transformers 5, src/transformers/models/*/configuration_*.py. Source of
// structures: modeling_*.py beside them.
#include "platform/workload/hugging_face/model_family.h"

namespace attnvp::workload {

namespace {

ModelFamily gpt2() {
  ModelFamily f;
  f.config_class = "GPT2Config";
  f.defaults.vocabulary = 50257;
  f.defaults.tied = true;
  f.keys = {"n_head", "n_layer", "n_embd", "n_inner", nullptr, "n_positions", "activation_function"};
  f.defaults.hidden = 768;
  f.defaults.layers = f.defaults.heads = 12;
  f.defaults.positions = 1024;
  f.defaults.activation = "gelu_new";
  f.kv_heads_key = f.rms_norm = f.gated = f.rotary = false;
  f.learned_positions = true;
  return f;
}

ModelFamily gptj() {
  ModelFamily f = gpt2();
  f.config_class = "GPTJConfig";
  f.defaults.vocabulary = 50400;
  f.defaults.tied = false;
  f.defaults.hidden = 4096;
  f.defaults.layers = 28;
  f.defaults.heads = 16;
  f.defaults.positions = 2048;
  f.defaults.rotary_dim = 64;
  f.learned_positions = false;
  f.rotary = true;
  f.order = "parallel";
  return f;
}

ModelFamily gpt_neox() {
  ModelFamily f;
  f.config_class = "GPTNeoXConfig";
  f.keys.head_dim = nullptr;
  f.defaults.vocabulary = 50432;
  f.defaults.hidden = 6144;
  f.defaults.ffn = 24576;
  f.defaults.layers = 44;
  f.defaults.heads = 64;
  f.defaults.positions = 2048;
  f.defaults.activation = "gelu";
  f.kv_heads_key = f.rms_norm = f.gated = false;
  f.share_key = "rotary_pct";
  f.rotary_share = 0.25;
  f.order = "parallel-norms";
  f.order_key = "use_parallel_residual";
  return f;
}

ModelFamily falcon() {
  ModelFamily f;
  f.config_class = "FalconConfig";
  f.keys = {"n_head", "n_layer", "n_embed", "ffn_hidden_size", nullptr, "max_position_embeddings", "activation"};
  f.keys.kv_heads = "num_kv_heads";
  f.defaults.vocabulary = 65024;
  f.defaults.tied = true;
  f.defaults.hidden = 4544;
  f.defaults.layers = 32;
  f.defaults.heads = 71;
  f.defaults.positions = 2048;
  f.defaults.activation = "gelu";
  f.rms_norm = f.gated = false;
  f.alibi = true;
  f.order = "parallel";
  f.order_key = "parallel_attn";
  return f;
}

ModelFamily mpt() {
  ModelFamily f;
  f.config_class = "MptConfig";
  f.keys = {"n_heads", "n_layers", "d_model", "ffn_hidden_size", nullptr, "max_seq_len", "activation"};
  f.defaults.vocabulary = 50368;
  f.defaults.tied = true;
  f.defaults.hidden = 2048;
  f.defaults.layers = 24;
  f.defaults.heads = 16;
  f.defaults.positions = 2048;
  f.defaults.activation = "gelu";
  f.kv_heads_key = f.rms_norm = f.gated = f.rotary = false;
  f.alibi = f.alibi_default = true;
  return f;
}

ModelFamily bloom() {
  ModelFamily f;
  f.config_class = "BloomConfig";
  f.keys = {"n_head", "n_layer", "n_embed", "n_inner", nullptr, "seq_length", "activation"};
  f.defaults.vocabulary = 250880;
  f.defaults.tied = true;
  f.defaults.hidden = 64;
  f.defaults.layers = 2;
  f.defaults.heads = 8;
  f.defaults.positions = 2048;
  f.defaults.activation = "gelu_new";
  f.kv_heads_key = f.rms_norm = f.gated = f.rotary = false;
  f.alibi = f.alibi_default = true;
  f.embedding_norm = true;
  return f;
}

ModelFamily encoder() {
  ModelFamily f;
  f.keys.head_dim = nullptr;
  f.defaults.hidden = 768;
  f.defaults.ffn = 3072;
  f.defaults.layers = f.defaults.heads = 12;
  f.defaults.activation = "gelu";
  f.causal = f.kv_heads_key = f.rms_norm = f.gated = f.rotary = f.last_projection = false;
  f.learned_positions = true;
  return f;
}

ModelFamily bert() {
  ModelFamily f = encoder();
  f.config_class = "BertConfig";
  f.defaults.vocabulary = 30522;
  f.defaults.tied = f.embedding_norm = true;
  f.defaults.positions = 512;
  f.decoder_flag = true;
  f.norm_place = "post";
  return f;
}

ModelFamily roberta() {
  ModelFamily f = bert();
  f.config_class = "RobertaConfig";
  f.defaults.vocabulary = 50265;
  f.positions = Positions::kAfterPadding;
  return f;
}

ModelFamily vit() {
  ModelFamily f = encoder();
  f.config_class = "ViTConfig";
  f.defaults.patch = 16;
  f.positions = Positions::kPatches;
  return f;
}

ModelFamily distilbert() {
  ModelFamily f = bert();
  f.config_class = "DistilBertConfig";
  f.keys = {"n_heads", "n_layers", "dim", "hidden_dim", nullptr, "max_position_embeddings", "activation"};
  f.defaults.layers = 6;
  f.decoder_flag = false;
  return f;
}

ModelFamily clip_vision() {
  ModelFamily f = vit();
  f.config_class = "CLIPVisionConfig";
  f.defaults.patch = 32;
  f.defaults.activation = "quick_gelu";
  f.embedding_norm = true;
  return f;
}

ModelFamily siglip_vision() {
  ModelFamily f = vit();
  f.config_class = "SiglipVisionConfig";
  f.defaults.activation = "gelu_pytorch_tanh";
  f.positions = Positions::kPatchesAlone;
  return f;
}

ModelFamily whisper() {
  ModelFamily f = encoder();
  f.config_class = "WhisperConfig";
  f.keys = {"encoder_attention_heads", "encoder_layers",     "d_model", "encoder_ffn_dim", nullptr,
            "max_source_positions",    "activation_function"};
  f.defaults.hidden = 256;
  f.defaults.ffn = 1536;
  f.defaults.layers = 6;
  f.defaults.heads = 4;
  f.defaults.positions = 1500;
  f.decoder = {"decoder_layers", "decoder_attention_heads", "decoder_ffn_dim", "max_target_positions", 448};
  f.defaults.vocabulary = 51865;
  f.defaults.tied = true;
  f.mel_bins = 80;
  f.encoder_decoder = true;
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
  f.defaults.vocabulary = 32128;
  f.defaults.tied = true;
  f.decoder.layers = "num_decoder_layers";
  f.encoder_decoder = true;
  f.last_projection = false;
  return f;
}

// GPT, BERT and their successors, encoders of images and speech, T5.
std::map<std::string, ModelFamily> other_families() {
  return {{"bert", bert()},
          {"bloom", bloom()},
          {"clip_vision_model", clip_vision()},
          {"distilbert", distilbert()},
          {"falcon", falcon()},
          {"gpt2", gpt2()},
          {"gpt_neox", gpt_neox()},
          {"gptj", gptj()},
          {"mpt", mpt()},
          {"roberta", roberta()},
          {"siglip_vision_model", siglip_vision()},
          {"t5", t5()},
          {"vit", vit()},
          {"whisper", whisper()},
          {"xlm-roberta", roberta()}};
}

}  // namespace

const std::map<std::string, ModelFamily>& model_families() {
  static const std::map<std::string, ModelFamily> all = [] {
    std::map<std::string, ModelFamily> families = llama_families();
    families.merge(other_families());
    return families;
  }();
  return all;
}

std::string text_model_type(const std::string& outer_type) {
  static const std::map<std::string, std::string> types = {
      {"gemma3", "gemma3_text"}, {"llama4", "llama4_text"}, {"llava", "llama"}, {"llava_next", "llama"}};
  const auto found = types.find(outer_type);
  return found == types.end() ? std::string() : found->second;
}

}  // namespace attnvp::workload
