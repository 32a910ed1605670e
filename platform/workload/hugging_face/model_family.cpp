// Source of defaults: configuration classes of Transformers 5, src/transformers/models/*/configuration_*.py. Source of
// structures: modeling_*.py beside them.
#include "platform/workload/hugging_face/model_family.h"

namespace attnvp::workload {

namespace {

ModelFamily gpt2() {
  ModelFamily f;
  f.keys = {"n_head", "n_layer", "n_embd", "n_inner", nullptr, "n_positions", "activation_function"};
  f.defaults.activation = "gelu_new";
  f.kv_heads_key = f.rms_norm = f.gated = f.rotary = false;
  f.learned_positions = true;
  return f;
}

ModelFamily gptj() {
  ModelFamily f = gpt2();
  f.defaults.rotary_dim = 64;
  f.learned_positions = false;
  f.rotary = true;
  f.order = "parallel";
  return f;
}

ModelFamily gpt_neox() {
  ModelFamily f;
  f.keys.head_dim = nullptr;
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
  f.keys = {"n_head", "n_layer", "n_embed", "ffn_hidden_size", nullptr, "max_position_embeddings", "activation"};
  f.keys.kv_heads = "num_kv_heads";
  f.defaults.activation = "gelu";
  f.rms_norm = f.gated = false;
  f.alibi = true;
  f.order = "parallel";
  f.order_key = "parallel_attn";
  return f;
}

ModelFamily mpt() {
  ModelFamily f;
  f.keys = {"n_heads", "n_layers", "d_model", "ffn_hidden_size", nullptr, "max_seq_len", "activation"};
  f.defaults.activation = "gelu";
  f.kv_heads_key = f.rms_norm = f.gated = f.rotary = false;
  f.alibi = f.alibi_default = true;
  return f;
}

ModelFamily bloom() {
  ModelFamily f;
  f.keys = {"n_head", "n_layer", "n_embed", "n_inner", nullptr, "seq_length", "activation"};
  f.defaults.activation = "gelu_new";
  f.kv_heads_key = f.rms_norm = f.gated = f.rotary = false;
  f.alibi = f.alibi_default = true;
  f.embedding_norm = true;
  return f;
}

ModelFamily encoder() {
  ModelFamily f;
  f.keys.head_dim = nullptr;
  f.defaults.activation = "gelu";
  f.causal = f.kv_heads_key = f.rms_norm = f.gated = f.rotary = f.last_projection = false;
  f.learned_positions = true;
  return f;
}

ModelFamily bert() {
  ModelFamily f = encoder();
  f.embedding_norm = true;
  f.decoder_flag = true;
  f.norm_place = "post";
  return f;
}

ModelFamily roberta() {
  ModelFamily f = bert();
  f.positions = Positions::kAfterPadding;
  return f;
}

ModelFamily vit() {
  ModelFamily f = encoder();
  f.defaults.patch = 16;
  f.positions = Positions::kPatches;
  return f;
}

ModelFamily distilbert() {
  ModelFamily f = bert();
  f.keys = {"n_heads", "n_layers", "dim", "hidden_dim", nullptr, "max_position_embeddings", "activation"};
  f.decoder_flag = false;
  return f;
}

ModelFamily clip_vision() {
  ModelFamily f = vit();
  f.defaults.patch = 32;
  f.defaults.activation = "quick_gelu";
  f.embedding_norm = true;
  return f;
}

ModelFamily siglip_vision() {
  ModelFamily f = vit();
  f.defaults.activation = "gelu_pytorch_tanh";
  f.positions = Positions::kPatchesAlone;
  return f;
}

ModelFamily whisper() {
  ModelFamily f = encoder();
  f.keys = {"encoder_attention_heads", "encoder_layers",     "d_model", "encoder_ffn_dim", nullptr,
            "max_source_positions",    "activation_function"};
  f.decoder = {"decoder_layers", "decoder_attention_heads", "decoder_ffn_dim", "max_target_positions", 448};
  f.mel_bins = 80;
  f.encoder_decoder = true;
  return f;
}

ModelFamily t5() {
  ModelFamily f;
  f.keys = {"num_heads", "num_layers", "d_model", "d_ff", "d_kv", "n_positions", "dense_act_fn"};
  f.causal = f.kv_heads_key = f.gated = f.rotary = false;
  f.relative = true;
  f.scale = ScoreScale::kOne;
  f.decoder.layers = "num_decoder_layers";
  f.encoder_decoder = true;
  f.last_projection = false;
  return f;
}

// GPT, BERT and their successors, encoders of images and speech, T5. Sizes as in llama_families().
std::vector<ModelFamilyRow> other_families() {
  return {{"bert", "BertConfig", {768, 3072, 12, 12, 0, 0, 512, 30522, true}, bert()},
          {"bloom", "BloomConfig", {64, 0, 2, 8, 0, 0, 2048, 250880, true}, bloom()},
          {"clip_vision_model", "CLIPVisionConfig", {768, 3072, 12, 12, 0, 0, 0, 0}, clip_vision()},
          {"distilbert", "DistilBertConfig", {768, 3072, 6, 12, 0, 0, 512, 30522, true}, distilbert()},
          {"falcon", "FalconConfig", {4544, 0, 32, 71, 0, 0, 2048, 65024, true}, falcon()},
          {"gpt2", "GPT2Config", {768, 0, 12, 12, 0, 0, 1024, 50257, true}, gpt2()},
          {"gpt_neox", "GPTNeoXConfig", {6144, 24576, 44, 64, 0, 0, 2048, 50432}, gpt_neox()},
          {"gptj", "GPTJConfig", {4096, 0, 28, 16, 0, 0, 2048, 50400}, gptj()},
          {"mpt", "MptConfig", {2048, 0, 24, 16, 0, 0, 2048, 50368, true}, mpt()},
          {"roberta", "RobertaConfig", {768, 3072, 12, 12, 0, 0, 512, 50265, true}, roberta()},
          {"siglip_vision_model", "SiglipVisionConfig", {768, 3072, 12, 12, 0, 0, 0, 0}, siglip_vision()},
          {"t5", "T5Config", {512, 2048, 6, 8, 0, 64, 0, 32128, true}, t5()},
          {"vit", "ViTConfig", {768, 3072, 12, 12, 0, 0, 0, 0}, vit()},
          {"whisper", "WhisperConfig", {256, 1536, 6, 4, 0, 0, 1500, 51865, true}, whisper()},
          {"xlm-roberta", "RobertaConfig", {768, 3072, 12, 12, 0, 0, 512, 50265, true}, roberta()}};
}

}  // namespace

const std::map<std::string, ModelFamily>& model_families() {
  static const std::map<std::string, ModelFamily> all = [] {
    std::map<std::string, ModelFamily> families;
    for (const std::vector<ModelFamilyRow>& rows : {llama_families(), other_families()}) {
      for (const ModelFamilyRow& row : rows) {
        ModelFamily& family = families[row.model_type] = row.structure;
        family.config_class = row.config_class;
        family.sizes = row.sizes;
      }
    }
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
