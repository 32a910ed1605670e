// What Hugging Face Transformers makes of a config.json by its `model_type`: the keys it reads, the defaults of keys
// that are left out, and the structure that its code gives a layer. One entry a model type.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace attnvp::config {

// Names of keys; a model type may have its own for the usual ones.
struct ModelKeys {
  const char* heads = "num_attention_heads";
  const char* layers = "num_hidden_layers";
  const char* hidden = "hidden_size";
  const char* ffn = "intermediate_size";
  const char* head_dim = "head_dim";  // nullptr: heads are always hidden / heads wide
  const char* positions = "max_position_embeddings";
  const char* activation = "hidden_act";
};

// Defaults of the configuration class; 0: it has none.
struct ModelDefaults {
  std::uint32_t hidden = 0, ffn = 0, layers = 0, heads = 0;
  std::uint32_t kv_heads = 0;  // 0: as many as heads
  std::uint32_t head_dim = 0;  // 0: hidden / heads
  std::uint32_t positions = 0;
  std::uint32_t window = 0;             // of sliding_window; 0: none
  std::uint32_t max_window_layers = 0;  // of layers that have a window (Qwen)
  std::uint32_t pattern = 0;            // of layers, the last of which has no window
  double query_scalar = 0;              // of query_pre_attn_scalar
  double soft_cap = 0;                  // of attn_logit_softcapping
  const char* activation = "silu";
};

// Which layers have a window of `sliding_window` keys. Where layer_types is given (kFrom, kAlternate, kPattern), it
// says so instead.
enum class WindowRule : std::uint8_t {
  kNone,       // the key is not read
  kAll,        // every layer
  kIfUsed,     // every layer, with use_sliding_window
  kFrom,       // layers from max_window_layers on, with use_sliding_window
  kAlternate,  // every other layer before max_window_layers, the first one too, with use_sliding_window
  kPattern     // all but every `pattern`-th layer
};

// What scores are multiplied by: 1 / sqrt of the head's width, 1 / sqrt(query_pre_attn_scalar), or 1.
enum class ScoreScale : std::uint8_t { kHeadWidth, kQueryScalar, kOne };

// Tokens at most: the key; the key less the places up to the padding token's (RoBERTa); an image's patches and a class
// token.
enum class Positions : std::uint8_t { kKey, kAfterPadding, kPatches };

struct ModelFamily {
  const char* config_class = "";  // source of the defaults
  ModelKeys keys;
  ModelDefaults defaults;

  // Attention.
  bool causal = true;         // otherwise an encoder; BERT's becomes causal with is_decoder
  bool decoder_flag = false;  // reads is_decoder and position_embedding_type
  bool kv_heads_key = true;   // reads num_key_value_heads
  bool latent = false;        // K and V from one latent row a token (kv_lora_rank)
  bool relative = false;      // T5's bias of the relative position
  WindowRule windows = WindowRule::kNone;
  bool pattern_key = false;        // reads sliding_window_pattern
  bool bidirectional_key = false;  // reads use_bidirectional_attention
  bool half_window = false;        // which makes the window reach half as far to either side
  ScoreScale scale = ScoreScale::kHeadWidth;
  bool soft_cap_key = false;  // reads attn_logit_softcapping
  Positions positions = Positions::kKey;

  // The layer around it.
  bool rms_norm = true;
  const char* norm_place = "pre";
  bool gated = true;
  bool rotary = true;
  double rotary_share = 1;  // of a head's columns, unless partial_rotary_factor says otherwise
  bool qk_norm = false;
  bool experts = false;          // in place of one feed-forward network
  bool parallel = false;         // attention and feed-forward network side by side
  bool encoder_decoder = false;  // the encoder is what is read

  const char* refused = nullptr;  // why its attention cannot be expressed
};

const std::map<std::string, ModelFamily>& model_families();

// The type of a "text_config" that does not name its own, by the type of the model around it; empty: none is known.
std::string text_model_type(const std::string& outer_type);

}  // namespace attnvp::config
