#include "platform/workload/hugging_face.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "platform/machine/words.h"
#include "platform/workload/model_family.h"
#include "platform/workload/model_json.h"

namespace attnvp::workload {

using namespace config;
namespace {

using nlohmann::json;

constexpr std::uint64_t kMostTokens = 2048;  // default sequence length
constexpr std::uint64_t kMostLayers = 1024;
constexpr const char* kSliding = kSlidingAttention;
constexpr const char* kFull = kFullAttention;

// Activations in Transformers -> names of `activation`.
const std::map<std::string, std::string>& activations() {
  static const std::map<std::string, std::string> all = {{"relu", "relu"},
                                                         {"silu", "silu"},
                                                         {"swish", "silu"},
                                                         {"gelu", "gelu"},
                                                         {"gelu_python", "gelu"},
                                                         {"gelu_new", "gelu_tanh"},
                                                         {"gelu_fast", "gelu_tanh"},
                                                         {"gelu_accurate", "gelu_tanh"},
                                                         {"gelu_pytorch_tanh", "gelu_tanh"},
                                                         {"quick_gelu", "silu"}};  // x sigmoid(1.702 x)
  return all;
}

class ModelReader {
 public:
  ModelReader(const ModelJson& file, const ModelFamily& family, std::string type)
      : file_(file), family_(family), type_(std::move(type)) {
    result_.source = file.source();
  }

  ModelFile read(const std::string& layer_type) {
    read_heads();
    read_layers(layer_type);
    read_scores();
    read_tokens();
    read_model();
    return std::move(result_);
  }

 private:
  struct Number {
    std::uint64_t value;
    Provenance from;
  };

  Provenance of_key(const char* key) const {
    return {ProvenanceKind::kPublished, file_.named(key) + " of the file", {}};
  }
  Provenance of_class(const char* key) const {
    return {
        ProvenanceKind::kPublished, fmt::format("default of {} for {}", family_.config_class, file_.named(key)), {}};
  }
  Provenance of_key_or_class(const char* key) const { return file_.find(key) != nullptr ? of_key(key) : of_class(key); }
  Provenance of_type() const {
    return {ProvenanceKind::kPublished, fmt::format("code of Transformers for model_type '{}'", type_), {}};
  }
  static Provenance derived(const std::string& from) { return {ProvenanceKind::kDerived, from, {}}; }

  // Value of a key, of its alias in Transformers (nullptr: none), or the class's default.
  Number number(const char* key, const char* alias, std::uint32_t fallback) const {
    for (const char* name : {key, alias}) {
      if (name == nullptr) continue;
      if (const auto value = file_.whole(name)) return {*value, of_key(name)};
    }
    if (fallback == 0) file_.refuse(key, "it is missing");
    return {fallback, of_class(key)};
  }
  void set(const char* key, const std::string& value, Provenance from) {
    result_.settings.push_back({key, value, {file_.source()}});
    result_.sources.push_back(std::move(from));
  }
  void set(const char* key, const Number& n) { set(key, std::to_string(n.value), n.from); }
  void no_layer(const std::string& why) {
    if (result_.no_layer.empty()) result_.no_layer = why;
  }

  void read_heads() {
    heads_ = number(family_.keys.heads, ModelKeys{}.heads, family_.defaults.heads);
    hidden_ = number(family_.keys.hidden, ModelKeys{}.hidden, family_.defaults.hidden);
    set("heads", heads_);
    if (family_.latent) return read_latent();
    if (type_ == "falcon" && !file_.flag("new_decoder_architecture").value_or(false)) {
      if (file_.flag("multi_query").value_or(true)) set("kv_heads", {1, of_key_or_class("multi_query")});
      return read_width();
    }
    if (family_.kv_heads_key) {
      const char* const key = family_.keys.kv_heads;
      const bool left_out = !file_.has(key);
      const auto given = file_.whole(key);
      const Number kv_heads = given ? Number{*given, of_key(key)}
                              : left_out && family_.defaults.kv_heads > 0
                                  ? Number{family_.defaults.kv_heads, of_class(key)}
                                  : heads_;
      if (heads_.value % kv_heads.value != 0) {
        file_.refuse(key, fmt::format("{} {}; allowed is a divisor of {} heads", given ? "found" : "its default is",
                                      kv_heads.value, heads_.value));
      }
      if (kv_heads.value != heads_.value) set("kv_heads", kv_heads);
    }
    read_width();
  }

  void read_width() {
    const char* const key = family_.keys.head_dim;
    if (const auto width = key == nullptr ? std::nullopt : file_.whole(key)) return set_width({*width, of_key(key)});
    if (family_.defaults.head_dim > 0) return set_width({family_.defaults.head_dim, of_class(key)});
    if (hidden_.value % heads_.value != 0) {
      file_.refuse(family_.keys.hidden, fmt::format("found {}, no multiple of {} heads", hidden_.value, heads_.value));
    }
    set_width({hidden_.value / heads_.value,
               derived(fmt::format("'{}' over '{}'", family_.keys.hidden, family_.keys.heads))});
  }
  void set_width(const Number& width) {
    width_ = width.value;
    set("emb", width);
  }

  // Latent attention (MLA). The scale is that of the heads before absorption.
  void read_latent() {
    constexpr std::uint32_t kRank = 512, kQueryRank = 1536, kRotary = 64, kPlain = 128,
                            kValues = 128;  // of the classes
    const Number rotary = number("qk_rope_head_dim", nullptr, kRotary),
                 plain = number("qk_nope_head_dim", nullptr, kPlain);
    set("kv_rank", number("kv_lora_rank", nullptr, kRank));
    // null: Q has one projection, even if the class has a default
    if (!file_.has("q_lora_rank") || file_.find("q_lora_rank") != nullptr) {
      set("q_rank", number("q_lora_rank", nullptr, kQueryRank));
    }
    set("nope_emb", plain);
    set("rope_emb", rotary);
    set("v_emb", number("v_head_dim", nullptr, kValues));
    const double factor = yarn_factor();
    set("scale", fmt::format("{:.9g}", factor * factor / std::sqrt(static_cast<double>(plain.value + rotary.value))),
        derived("'qk_nope_head_dim', 'qk_rope_head_dim' and the rotary embedding's 'mscale_all_dim'"));
  }

  // YaRN's attention factor; it scales both Q and K.
  double yarn_factor() const {
    for (const char* key : {"rope_parameters", "rope_scaling"}) {
      const auto rope = file_.inside(key);
      if (!rope) continue;
      const auto kind = rope->text(rope->has("rope_type") ? "rope_type" : "type");
      if (!rope->has("mscale_all_dim") || (kind && *kind == "default")) return 1;
      const json* const given = rope->find("mscale_all_dim");
      if (given == nullptr || (given->is_number() && given->get<double>() == 0)) return 1;
      const double mscale = *rope->positive("mscale_all_dim");
      const auto factor = rope->positive("factor");
      if (!factor) rope->refuse("factor", "it is missing");
      return *factor <= 1 ? 1 : 0.1 * mscale * std::log(*factor) + 1;
    }
    return 1;
  }

  // Features of one layer.
  struct LayerFeatures {
    bool is_windowed = false, has_experts = false, is_rotary = true;
    bool operator==(const LayerFeatures& o) const {
      return is_windowed == o.is_windowed && has_experts == o.has_experts && is_rotary == o.is_rotary;
    }
  };

  // Layers by kind, windows and causality.
  void read_layers(const std::string& layer_type) {
    const Number layers = number(family_.keys.layers, ModelKeys{}.layers, family_.defaults.layers);
    if (layers.value > kMostLayers) {
      file_.refuse(family_.keys.layers, fmt::format("found {}; allowed is 1 to {}", layers.value, kMostLayers));
    }
    std::vector<LayerFeatures> kinds(layers.value);
    std::uint64_t window = 0;
    Provenance from;
    read_window(window, from);
    read_windows(kinds, window);
    for (LayerFeatures& k : kinds) k.is_rotary = k.is_rotary && (k.is_windowed || !family_.rotary_in_windows);
    is_rotary_ = std::any_of(kinds.begin(), kinds.end(), [](const LayerFeatures& k) { return k.is_rotary; });
    const auto sliding = static_cast<std::uint64_t>(
        std::count_if(kinds.begin(), kinds.end(), [](const LayerFeatures& k) { return k.is_windowed; }));
    const std::uint64_t full = layers.value - sliding;
    if (!layer_type.empty() && layer_type != kSliding && layer_type != kFull) {
      throw ConfigError(fmt::format("{}: layer_type: found {}; allowed: {}, {}", file_.source(), in_quotes(layer_type),
                                    kFull, kSliding));
    }
    const bool are_alike = sliding == 0 || full == 0;
    if (are_alike && !layer_type.empty() && layer_type != (sliding > 0 ? kSliding : kFull)) {
      throw ConfigError(fmt::format("{}: layer_type: found {}; allowed is {}, as all {} layers are", file_.source(),
                                    in_quotes(layer_type), sliding > 0 ? kSliding : kFull, layers.value));
    }
    read_experts(kinds);
    if (has_decoder()) {
      set_decoder(layers);
    } else {
      set_blocks(kinds, layers, layer_type == kSliding);
    }
    if (has_decoder() || read_causal(sliding > 0, window, from)) set("causal", "1", of_type());
    if (sliding > 0) set("window", std::to_string(window), from);
  }

  bool has_decoder() const { return family_.encoder_decoder && file_.flag("is_encoder_decoder").value_or(true); }

  // An encoder of `layers`, and a decoder of the same widths.
  void set_decoder(const Number& layers) {
    const DecoderKeys& d = family_.decoder;
    const std::uint64_t own = file_.whole(d.layers).value_or(layers.value);
    if (own + layers.value > kMostLayers) {
      file_.refuse(d.layers, fmt::format("found {}; allowed are {} layers of both parts", own, kMostLayers));
    }
    set("blocks", fmt::format("{}*encoder+{}*cross", layers.value, own),
        derived(fmt::format("'{}' and '{}'", family_.keys.layers, d.layers)));
    const auto is_same = [&](const char* key, const char* encoder_key, std::uint64_t of_encoder) {
      if (key == nullptr || file_.whole(key).value_or(of_encoder) == of_encoder) return;
      file_.refuse_value(key, fmt::format("that of '{}', {}", encoder_key, of_encoder));
    };
    is_same(d.heads, family_.keys.heads, heads_.value);
    is_same(d.ffn, family_.keys.ffn, number(family_.keys.ffn, ModelKeys{}.ffn, family_.defaults.ffn).value);
    if (family_.mel_bins > 0) set("mel_bins", number("num_mel_bins", nullptr, family_.mel_bins));
  }

  // Blocks of equal layers, in the order of their first layers; `is_windowed`: of the selected layer type.
  void set_blocks(const std::vector<LayerFeatures>& kinds, const Number& layers, bool is_windowed) {
    std::vector<std::pair<LayerFeatures, std::uint64_t>> blocks;
    for (const LayerFeatures& k : kinds) {
      const auto same = std::find_if(blocks.begin(), blocks.end(), [&](const auto& b) { return b.first == k; });
      same == blocks.end() ? blocks.emplace_back(k, 1) : * same = {k, same->second + 1};
    }
    if (blocks.size() == 1) return set("layers", layers);
    const auto differ = [&](bool LayerFeatures::*feature) {
      return std::any_of(kinds.begin(), kinds.end(),
                         [&](const LayerFeatures& k) { return k.*feature != kinds.front().*feature; });
    };
    std::string all;
    for (const auto& [kind, count] : blocks) {
      std::string words;
      const auto word = [&](bool LayerFeatures::*feature, const char* yes, const char* no) {
        if (differ(feature)) words += (words.empty() ? "" : ".") + std::string(kind.*feature ? yes : no);
      };
      word(&LayerFeatures::is_windowed, "window", "full");
      word(&LayerFeatures::has_experts, "experts", "dense");
      word(&LayerFeatures::is_rotary, "rotary", "nope");
      all += fmt::format("{}{}*{}", all.empty() ? "" : "+", count, words);
    }
    set("blocks", all, derived(fmt::format("'{}' and the rules of model_type '{}'", family_.keys.layers, type_)));
    for (std::size_t i = blocks.size(); i-- > 0;) {
      if (blocks[i].first.is_windowed == is_windowed) result_.block = static_cast<std::uint32_t>(i + 1);
    }
  }

  // Indices of layers under a key.
  std::vector<std::uint64_t> indices(const char* key, std::uint64_t layers) const {
    std::vector<std::uint64_t> all;
    const json* const list = file_.find(key);
    if (list == nullptr) return all;
    const auto is_index = [&](const json& i) { return i.is_number_unsigned() && i.get<std::uint64_t>() < layers; };
    if (!list->is_array() || !std::all_of(list->begin(), list->end(), is_index)) {
      file_.refuse_value(key, fmt::format("a list of whole numbers below {}", layers));
    }
    for (const json& i : *list) all.push_back(i.get<std::uint64_t>());
    return all;
  }

  void read_experts(std::vector<LayerFeatures>& kinds) {
    const ExpertKeys& e = family_.experts;
    const std::uint64_t layers = kinds.size();
    if (e.rule == ExpertRule::kAll) {
      for (LayerFeatures& k : kinds) k.has_experts = true;
    } else if (e.rule == ExpertRule::kFirstDense) {
      const std::uint64_t dense = file_.whole("first_k_dense_replace", 0).value_or(e.dense_default);
      if (file_.whole("moe_layer_freq").value_or(1) != 1) file_.refuse_value("moe_layer_freq", "1");
      for (std::uint64_t i = dense; i < layers; ++i) kinds[i].has_experts = true;
    } else if (e.rule == ExpertRule::kSparseStep) {
      const std::uint64_t step = file_.whole("decoder_sparse_step").value_or(1);
      for (std::uint64_t i = step - 1; i < layers; i += step) kinds[i].has_experts = true;
      for (const std::uint64_t i : indices("mlp_only_layers", layers)) kinds[i].has_experts = false;
    } else if (e.rule == ExpertRule::kInterleaved) {
      if (file_.find("moe_layers") != nullptr) {
        for (const std::uint64_t i : indices("moe_layers", layers)) kinds[i].has_experts = true;
      } else {
        const std::uint64_t step = file_.whole("interleave_moe_layer_step").value_or(1);
        for (std::uint64_t i = step - 1; i < layers; i += step) kinds[i].has_experts = true;
      }
    }
    has_experts_ = std::any_of(kinds.begin(), kinds.end(), [](const LayerFeatures& k) { return k.has_experts; });
    has_dense_ = std::any_of(kinds.begin(), kinds.end(), [](const LayerFeatures& k) { return !k.has_experts; });
    if (!has_experts_) return;
    const char* const other = std::string(e.count) == "num_experts" ? "num_local_experts" : "num_experts";
    set("experts", number(e.count, other, e.count_default));
    constexpr const char* kChosen = "num_experts_per_tok";
    if (e.chosen_default == 0 && file_.find(kChosen) == nullptr)
      return no_layer(file_.named(kChosen) + ": it is missing");
    set("experts_per_token", number(kChosen, nullptr, e.chosen_default));
    const char* const width = e.ffn == nullptr ? family_.keys.ffn : e.ffn;
    const Number ffn = number(width, nullptr, e.ffn == nullptr ? family_.defaults.ffn : e.ffn_default);
    set("expert_ffn", ffn);
    if (e.shared == nullptr) return;
    const Number shared = number(e.shared, nullptr, e.shared_default);
    if (e.shared_is_count) {
      set("shared_ffn", std::to_string(shared.value * ffn.value),
          derived(fmt::format("'{}' times '{}'", e.shared, width)));
    } else {
      set("shared_ffn", shared);
    }
  }

  void read_window(std::uint64_t& window, Provenance& from) const {
    const WindowRule rule = family_.windows;
    if (rule == WindowRule::kNone) return;
    if (rule == WindowRule::kChunks) {
      constexpr std::uint64_t kChunk = 8192;  // default of Llama4TextConfig
      const bool is_given = file_.has("attention_chunk_size");
      window = is_given ? file_.whole("attention_chunk_size").value_or(0) : kChunk;
      from = derived("'attention_chunk_size': a chunk has at most as many keys as a window of that size");
      return;
    }
    const bool used =
        rule == WindowRule::kAll || rule == WindowRule::kPattern || file_.flag("use_sliding_window").value_or(false);
    if (!used) return;
    const bool given = file_.has("sliding_window");  // null: no window, even if the class has a default
    window = given ? file_.whole("sliding_window", 0).value_or(0) : family_.defaults.window;
    from = given ? of_key("sliding_window") : of_class("sliding_window");
  }

  // Sets the layers with a window.
  void read_windows(std::vector<LayerFeatures>& kinds, std::uint64_t window) const {
    const WindowRule rule = family_.windows;
    const std::uint64_t layers = kinds.size();
    if (rule == WindowRule::kChunks) {
      const std::uint64_t interval = file_.whole("no_rope_layer_interval").value_or(4);
      if (const json* const list = file_.find("no_rope_layers"); list != nullptr && !list->empty()) {
        if (!list->is_array() || list->size() < layers) {
          file_.refuse_value("no_rope_layers", fmt::format("a list of {} of 0 and 1", layers));
        }
        for (std::uint64_t i = 0; i < layers; ++i) kinds[i].is_rotary = (*list)[i] != 0;
      } else {
        for (std::uint64_t i = 0; i < layers; ++i) kinds[i].is_rotary = (i + 1) % interval != 0;
      }
      for (LayerFeatures& k : kinds) k.is_windowed = k.is_rotary && window > 0;
      return;
    }
    const bool listed = rule == WindowRule::kFrom || rule == WindowRule::kAlternate || rule == WindowRule::kPattern;
    if (file_.find("layer_types") != nullptr) {
      const bool any = read_list(kinds, listed);
      if (any && window == 0) file_.refuse("layer_types", "found 'sliding_attention' without a 'sliding_window'");
      return;
    }
    const auto slide = [&](const auto& is) {
      for (std::uint64_t i = 0; i < layers; ++i) kinds[i].is_windowed = is(i);
    };
    if (window == 0) return;
    if (!listed) {
      slide([](std::uint64_t) { return true; });
      return;
    }
    if (rule == WindowRule::kPattern) {
      std::uint64_t pattern = family_.defaults.pattern;
      for (const char* name : {"_sliding_window_pattern", "sliding_window_pattern"}) {
        const auto given = family_.pattern_key ? file_.whole(name) : std::nullopt;
        if (given) pattern = *given;
      }
      slide([&](std::uint64_t i) { return (i + 1) % pattern != 0; });
      return;
    }
    const std::uint64_t bound = file_.whole("max_window_layers", 0).value_or(family_.defaults.max_window_layers);
    slide([&](std::uint64_t i) { return rule == WindowRule::kFrom ? i >= bound : i < bound && i % 2 == 0; });
  }

  bool read_list(std::vector<LayerFeatures>& kinds, bool listed) const {
    const std::uint64_t layers = kinds.size();
    const json& list = *file_.find("layer_types");
    if (!list.is_array() || list.size() != layers) {
      file_.refuse("layer_types",
                   fmt::format("found {}; allowed is a list of {} texts",
                               list.is_array() ? fmt::format("a list of {}", list.size()) : shown_value(list), layers));
    }
    bool any = false;
    for (std::uint64_t i = 0; i < layers; ++i) {
      const json& kind = list[i];
      const std::string name = kind.is_string() ? kind.get<std::string>() : std::string();
      const bool known = name == kFull || (listed && name == kSliding);
      if (!known) {
        file_.refuse("layer_types", fmt::format("found {}; allowed in model_type '{}': {}", shown_value(kind), type_,
                                                listed ? fmt::format("{}, {}", kFull, kSliding) : kFull));
      }
      kinds[i].is_windowed = name == kSliding;
      any = any || kinds[i].is_windowed;
    }
    return any;
  }

  // Without causality a window extends to both sides.
  bool read_causal(bool windowed, std::uint64_t& window, Provenance& from) const {
    if (family_.decoder_flag && file_.flag("is_decoder").value_or(false)) return true;
    if (!family_.causal) return false;
    const char* key = nullptr;
    if (!file_.flag("is_causal").value_or(true)) key = "is_causal";
    if (family_.bidirectional_key && file_.flag("use_bidirectional_attention").value_or(false)) {
      key = "use_bidirectional_attention";
    }
    if (key == nullptr) return true;
    if (!windowed) return false;
    if (!family_.half_window || std::string(key) == "is_causal") {
      file_.refuse(key, "with a window allowed is causal attention, as it is not known how far the window reaches");
    }
    window = window / 2 + 1;
    from = derived("'sliding_window', half of it to either side");
    return false;
  }

  void read_scores() {
    if (family_.decoder_flag) {
      const auto kind = file_.text("position_embedding_type");
      if (kind && *kind != "absolute") file_.refuse_value("position_embedding_type", "'absolute'");
    }
    if (family_.relative) {
      for (const auto& [key, only] : {std::pair{"relative_attention_num_buckets", std::uint64_t{32}},
                                      {"relative_attention_max_distance", std::uint64_t{128}}}) {
        if (file_.whole(key).value_or(only) != only) file_.refuse_value(key, std::to_string(only));
      }
      set("relative", "1", of_type());
    }
    if (family_.sinks) set("sink", "1", of_type());
    if (family_.alibi) {
      const auto inner = file_.inside("attn_config");
      const auto given = (inner ? *inner : file_).flag("alibi");
      is_alibi_ = given.value_or(family_.alibi_default);
      if (is_alibi_) set("alibi", "1", given ? of_key("alibi") : of_class("alibi"));
    }
    if (family_.soft_cap_key) {
      const bool given = file_.has("attn_logit_softcapping");  // null: none, even if the class has a default
      const double cap = given ? file_.positive("attn_logit_softcapping").value_or(0) : family_.defaults.soft_cap;
      const Provenance from = given ? of_key("attn_logit_softcapping") : of_class("attn_logit_softcapping");
      if (cap > 0) set("softcap", fmt::format("{:.9g}", cap), from);
    }
    if (family_.latent || family_.scale == ScoreScale::kOne) return;
    if (family_.scale == ScoreScale::kQueryScalar) {
      const auto scalar = file_.positive("query_pre_attn_scalar");
      set("scale", fmt::format("{:.9g}", 1 / std::sqrt(scalar.value_or(family_.defaults.query_scalar))),
          scalar ? of_key("query_pre_attn_scalar") : of_class("query_pre_attn_scalar"));
      return;
    }
    if (type_ == "gpt2") {
      if (file_.flag("scale_attn_by_inverse_layer_idx").value_or(false)) {
        file_.refuse_value("scale_attn_by_inverse_layer_idx", "false, as layers would differ");
      }
      if (!file_.flag("scale_attn_weights").value_or(true)) return;
    }
    set("scale", "1/sqrt(E)", of_type());
  }

  void read_tokens() {
    const char* const key = family_.keys.positions;
    if (family_.positions == Positions::kPatches || family_.positions == Positions::kPatchesAlone) {
      constexpr std::uint32_t kImage = 224, kChannels = 3;  // defaults of the classes
      const std::uint64_t patch = number("patch_size", nullptr, family_.defaults.patch).value,
                          side = number("image_size", nullptr, kImage).value / patch;
      if (side == 0) file_.refuse_value("image_size", "'patch_size' or more");
      const bool has_class = family_.positions == Positions::kPatches;
      tokens_ = side * side + (has_class ? 1 : 0);
      set("seq", std::to_string(tokens_),
          derived(has_class ? "patches of the image, and the class token" : "patches of the image"));
      set("patch", std::to_string(patch * patch * number("num_channels", nullptr, kChannels).value),
          derived("'patch_size' and 'num_channels'"));
      return;
    }
    const char* const of_decoder = has_decoder() ? family_.decoder.positions : nullptr;
    std::uint64_t tokens = kMostTokens;
    if (of_decoder != nullptr) {
      set("encoder", number(key, ModelKeys{}.positions, family_.defaults.positions));
      tokens = number(of_decoder, nullptr, family_.decoder.positions_default).value;
    } else if (family_.defaults.positions > 0 || file_.find(key) != nullptr) {
      tokens = number(key, ModelKeys{}.positions, family_.defaults.positions).value;
    }
    if (family_.positions == Positions::kAfterPadding) {
      constexpr std::uint64_t kPadding = 1;  // default of RobertaConfig; positions begin behind it
      const std::uint64_t before = file_.whole("pad_token_id", 0).value_or(kPadding) + 1;
      if (tokens <= before) file_.refuse_value(key, fmt::format("more than 'pad_token_id' + 1, {}", before));
      tokens -= before;
    }
    tokens_ = tokens;
    if (tokens > kMostTokens) {
      set("seq", std::to_string(kMostTokens), {ProvenanceKind::kAssumed, "as many as are asked for", {}});
    } else {
      set("seq", std::to_string(tokens), derived(fmt::format("'{}'", of_decoder != nullptr ? of_decoder : key)));
    }
  }

  // Finds a key of experts in model types that are not known to have experts.
  const char* key_of_experts() const {
    for (const auto& [key, value] : file_.keys().items()) {
      const bool named = key.find("expert") != std::string::npos || key.compare(0, 4, "moe_") == 0;
      if (named && value.is_number() && value.get<double>() > 0) return file_.keys().find(key).key().c_str();
    }
    return nullptr;
  }

  // Share of a head's columns that are rotated.
  double rotary_share() const {
    for (const char* key : {"rope_parameters", "rope_scaling"}) {
      const auto rope = file_.inside(key);
      if (rope && rope->has("partial_rotary_factor")) return rope->positive("partial_rotary_factor").value_or(1);
    }
    return file_.positive(family_.share_key).value_or(family_.rotary_share);
  }

  // Structure of the model around attention; no_layer() records why it cannot be expressed.
  void read_model() {
    if (const char* const key = family_.experts.rule == ExpertRule::kNone ? key_of_experts() : nullptr;
        key != nullptr) {
      no_layer(file_.named(key) + ": model_type '" + type_ + "' has no experts");
    }
    if (file_.flag("add_cross_attention").value_or(false)) {
      no_layer(file_.named("add_cross_attention") + ": cross-attention is not part of a layer");
    }
    bool gated = family_.gated;
    const std::string activation = read_activation(gated);
    if (!result_.no_layer.empty()) return;
    set("hidden", hidden_);
    if (has_dense_ || family_.experts.rule == ExpertRule::kNone) set("ffn", read_ffn());
    if (gated) set("gated", "1", of_type());
    set("norm", family_.rms_norm ? "rmsnorm" : "layernorm", of_type());
    set("norm_place", family_.norm_place, of_type());
    set("activation", activation, of_type());
    read_order();
    if (family_.rotary && is_rotary_ && !is_alibi_) read_rotary();
    if (family_.qk_norm) set("qk_norm", "1", of_type());
    read_ends();
    read_weights();
  }

  Number read_ffn() const {
    if (family_.dense_ffn != nullptr) return number(family_.dense_ffn, nullptr, family_.dense_ffn_default);
    const char* const key = family_.keys.ffn;
    if (family_.defaults.ffn > 0 || file_.find(key) != nullptr) return number(key, nullptr, family_.defaults.ffn);
    if (type_ == "mpt") {
      constexpr std::uint32_t kRatio = 4;  // default of MptConfig
      return {number("expansion_ratio", nullptr, kRatio).value * hidden_.value, derived("'expansion_ratio'")};
    }
    return {4 * hidden_.value, derived(fmt::format("4 times '{}'", family_.keys.hidden))};
  }

  void read_order() {
    std::string order = family_.order;
    if (family_.order_key != nullptr && !file_.flag(family_.order_key).value_or(true)) order = "sequential";
    if (type_ == "falcon" && file_.flag("new_decoder_architecture").value_or(false)) {
      order = file_.whole("num_ln_in_parallel_attn").value_or(2) == 2 ? "parallel-norms" : "parallel";
    }
    if (order != "sequential") set("order", order, of_type());
  }

  void read_rotary() {
    set("rotary", "1", of_type());
    if (family_.defaults.rotary_dim > 0) {
      const Number columns = number("rotary_dim", nullptr, family_.defaults.rotary_dim);
      if (columns.value != width_) set("rotary_emb", columns);
    } else if (const double share = rotary_share(); share != 1) {
      const auto columns = static_cast<std::uint64_t>(std::floor(share * static_cast<double>(width_)));
      set("rotary_emb", std::to_string(columns / 2 * 2), derived(fmt::format("{:g} of a head's columns", share)));
    }
  }

  // Embedding and last projection.
  void read_ends() {
    if (family_.defaults.vocabulary > 0 && (has_decoder() || family_.mel_bins == 0)) {
      set("vocabulary", number(family_.keys.vocabulary, nullptr, family_.defaults.vocabulary));
      const auto tied = file_.flag("tie_word_embeddings");
      if (tied.value_or(family_.defaults.tied)) {
        set("tied", "1", tied ? of_key("tie_word_embeddings") : of_class("tie_word_embeddings"));
      }
    }
    if (!family_.last_projection && !has_decoder()) set("logits", "none", of_type());
    if (family_.embedding_norm) set("embedding_norm", "1", of_type());
    if (!family_.learned_positions) return;
    set("positions", std::to_string(tokens_), derived("positions that tokens can have"));
  }

  // Files of MXFP4 list all modules but the experts as not converted.
  void read_weights() {
    const auto quantisation = file_.inside("quantization_config");
    if (!quantisation || !has_experts_ || quantisation->text("quant_method") != "mxfp4") return;
    set("expert_weights", "mxfp4", of_key("quantization_config"));
  }

  std::string read_activation(bool& gated) {
    const char* key = family_.keys.activation;
    std::string name = file_.text(key).value_or(family_.defaults.activation);
    if (type_ == "t5") {  // "relu", "gated-gelu"; dense_act_fn overrides the function
      const std::string form = file_.text("feed_forward_proj").value_or("relu");
      gated = form.rfind("gated-", 0) == 0;
      if (!file_.text(key)) {
        key = "feed_forward_proj";
        name = form == "gated-gelu" ? "gelu_new" : form.substr(gated ? 6 : 0);
      }
    }
    const auto known = activations().find(name);
    if (known != activations().end()) return known->second;
    std::vector<std::string> names;
    for (const auto& [allowed, unused] : activations()) names.push_back(allowed);
    no_layer(
        fmt::format("{}: found {}; a layer has one of {}", file_.named(key), in_quotes(name), fmt::join(names, ", ")));
    return {};
  }

  const ModelJson& file_;
  const ModelFamily& family_;
  std::string type_;
  ModelFile result_;
  Number heads_{}, hidden_{};
  std::uint64_t width_ = 0, tokens_ = 0;  // of a head; that have positions
  bool has_experts_ = false, has_dense_ = true, is_alibi_ = false, is_rotary_ = true;
};

}  // namespace

ModelFile read_hugging_face(const std::string& path, const std::string& layer_type) {
  const ModelJson whole = ModelJson::load(path);
  const std::optional<ModelJson> text = whole.inside("text_config");  // of multimodal models
  const ModelJson& file = text ? *text : whole;
  std::string type = file.text("model_type").value_or("");
  const std::string of_outer = text_model_type(whole.text("model_type").value_or(""));
  if (text && type.empty()) type = of_outer;
  if (!text && !of_outer.empty()) whole.refuse("text_config", "it is missing, or no map");
  if (type.empty()) file.refuse("model_type", "it is missing");
  const auto family = model_families().find(type);
  if (family == model_families().end()) {
    std::vector<std::string> names;
    for (const auto& [name, known] : model_families()) names.push_back(name);
    file.refuse("model_type", fmt::format("found {}; allowed: {}", in_quotes(type), fmt::join(names, ", ")));
  }
  return ModelReader(file, family->second, type).read(layer_type);
}

}  // namespace attnvp::workload
