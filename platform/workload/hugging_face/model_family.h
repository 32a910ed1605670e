// Table of Hugging Face model types (`model_type` of config.json): keys, defaults of absent keys, and layer structure
// in Transformers. One entry a model type.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace attnvp::workload {

// Names of keys; a model type may rename them.
struct ModelKeys {
  const char* heads = "num_attention_heads";
  const char* layers = "num_hidden_layers";
  const char* hidden = "hidden_size";
  const char* ffn = "intermediate_size";
  const char* head_dim = "head_dim";  // nullptr: head width is always hidden / heads
  const char* positions = "max_position_embeddings";
  const char* activation = "hidden_act";
  const char* vocabulary = "vocab_size";
  const char* kv_heads = "num_key_value_heads";
};

// Sizes that the configuration class gives by default; 0: none.
struct ModelSizes {
  std::uint32_t hidden = 0, ffn = 0, layers = 0, heads = 0;
  std::uint32_t kv_heads = 0;  // 0: equal to heads
  std::uint32_t head_dim = 0;  // 0: hidden / heads
  std::uint32_t positions = 0, vocabulary = 0;
  bool tied = false;  // of tie_word_embeddings
};

// Its other defaults; 0: none.
struct ModelDefaults {
  std::uint32_t window = 0;             // of sliding_window; 0: none
  std::uint32_t max_window_layers = 0;  // layers with a window (Qwen)
  std::uint32_t pattern = 0;            // period of layers; the last of each period has no window
  double query_scalar = 0;              // of query_pre_attn_scalar
  double soft_cap = 0;                  // of attn_logit_softcapping
  const char* activation = "silu";
  std::uint32_t patch = 0;       // of patch_size
  std::uint32_t rotary_dim = 0;  // of rotary_dim; 0: by rotary_share
};

// Layers that have a window of `sliding_window` keys. For kFrom, kAlternate and kPattern, layer_types takes precedence.
enum class WindowRule : std::uint8_t {
  kNone,       // the key is not read
  kAll,        // every layer
  kIfUsed,     // every layer, with use_sliding_window
  kFrom,       // layers from max_window_layers on, with use_sliding_window
  kAlternate,  // every other layer before max_window_layers, the first one too, with use_sliding_window
  kPattern,    // all but every `pattern`-th layer
  kChunks      // Llama 4's rotary layers: chunks of attention_chunk_size keys, which a window holds at most
};

// Layers that have experts in place of a network.
enum class ExpertRule : std::uint8_t {
  kNone,
  kAll,
  kSparseStep,  // every decoder_sparse_step-th, except those of mlp_only_layers
  kFirstDense,  // all but the first first_k_dense_replace
  kInterleaved  // every interleave_moe_layer_step-th, or those of moe_layers
};

// Keys of experts, and their defaults; 0: none.
struct ExpertKeys {
  ExpertRule rule = ExpertRule::kNone;
  const char* count = "num_local_experts";
  std::uint32_t count_default = 0, chosen_default = 0;
  const char* ffn = nullptr;  // width of an expert; nullptr: of the network
  std::uint32_t ffn_default = 0;
  const char* shared = nullptr;  // width of the shared expert, or with shared_is_count the number of experts' widths
  std::uint32_t shared_default = 0;
  bool shared_is_count = false;
  std::uint32_t dense_default = 0;  // of first_k_dense_replace
};

// Factor of the scores: 1 / sqrt of the head width, 1 / sqrt(query_pre_attn_scalar), or 1.
enum class ScoreScale : std::uint8_t { kHeadWidth, kQueryScalar, kOne };

// Maximum number of tokens: the key; the key minus the positions up to the padding token (RoBERTa); patches of an image
// with and without a class token.
enum class Positions : std::uint8_t { kKey, kAfterPadding, kPatches, kPatchesAlone };

// Keys of the decoder behind an encoder whose keys are ModelKeys; nullptr: as the encoder's.
struct DecoderKeys {
  const char *layers = nullptr, *heads = nullptr, *ffn = nullptr, *positions = nullptr;
  std::uint32_t positions_default = 0;
};

struct ModelFamily {
  const char* config_class = "";  // source of the defaults
  ModelKeys keys;
  ModelSizes sizes;
  ModelDefaults defaults;

  // Attention.
  bool causal = true;         // false: an encoder; BERT is causal with is_decoder
  bool decoder_flag = false;  // reads is_decoder and position_embedding_type
  bool kv_heads_key = true;   // reads num_key_value_heads
  bool latent = false;        // K and V from one latent row a token (kv_lora_rank)
  bool relative = false;      // T5's bias of the relative position
  bool sinks = false;         // learned sinks of the query heads
  bool alibi = false;         // reads alibi, of the file or its attn_config
  bool alibi_default = false;
  WindowRule windows = WindowRule::kNone;
  bool pattern_key = false;        // reads sliding_window_pattern
  bool bidirectional_key = false;  // reads use_bidirectional_attention
  bool half_window = false;        // a bidirectional window extends half as far to either side
  ScoreScale scale = ScoreScale::kHeadWidth;
  bool soft_cap_key = false;  // reads attn_logit_softcapping
  Positions positions = Positions::kKey;

  // The layer around it.
  bool rms_norm = true;
  const char* norm_place = "pre";
  bool gated = true;
  bool rotary = true;
  bool rotary_in_windows = false;  // only layers with a window have rotary embedding
  double rotary_share = 1;         // share of a head's columns, unless partial_rotary_factor is given
  bool qk_norm = false;
  ExpertKeys experts;
  const char* dense_ffn = nullptr;  // width of the network of layers without experts; nullptr: keys.ffn
  std::uint32_t dense_ffn_default = 0;
  const char* order = "sequential";  // of attention and feed-forward network
  const char* order_key = nullptr;   // a flag that is false if they are sequential
  bool learned_positions = false;    // added to the embedding
  bool embedding_norm = false;
  const char* share_key = "partial_rotary_factor";
  bool encoder_decoder = false;  // unless is_encoder_decoder is false
  DecoderKeys decoder;           // of an encoder and a decoder
  std::uint32_t mel_bins = 0;    // default of num_mel_bins: two convolutions are the encoder's embedding
  bool last_projection = true;   // false: of the model without a head
};

struct ModelFamilyRow {
  const char *model_type, *config_class;
  ModelSizes sizes;
  ModelFamily structure;  // without the columns above
};
// Decoders of Llama's structure: rotary embedding, networks with a gate, RMS norms, and what differs from that.
std::vector<ModelFamilyRow> llama_families();
const std::map<std::string, ModelFamily>& model_families();  // all

// Model type of a "text_config" without one, by the type of the model around it; empty: unknown.
std::string text_model_type(const std::string& outer_type);

}  // namespace attnvp::workload
