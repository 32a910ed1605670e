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
constexpr const char* kSliding = "sliding_attention";
constexpr const char* kFull = "full_attention";

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
                                                         {"gelu_pytorch_tanh", "gelu_tanh"}};
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
    read_mask(layer_type);
    read_scores();
    read_tokens();
    read_layer();
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
    if (family_.kv_heads_key) {
      const bool left_out = !file_.has("num_key_value_heads");
      const auto given = file_.whole("num_key_value_heads");
      const Number kv_heads = given ? Number{*given, of_key("num_key_value_heads")}
                              : left_out && family_.defaults.kv_heads > 0
                                  ? Number{family_.defaults.kv_heads, of_class("num_key_value_heads")}
                                  : heads_;
      if (heads_.value % kv_heads.value != 0) {
        file_.refuse("num_key_value_heads",
                     fmt::format("{} {}; allowed is a divisor of {} heads", given ? "found" : "its default is",
                                 kv_heads.value, heads_.value));
      }
      if (kv_heads.value != heads_.value) set("kv_heads", kv_heads);
    }
    const char* const key = family_.keys.head_dim;
    if (const auto width = key == nullptr ? std::nullopt : file_.whole(key)) return set("emb", {*width, of_key(key)});
    if (family_.defaults.head_dim > 0) return set("emb", {family_.defaults.head_dim, of_class(key)});
    if (hidden_.value % heads_.value != 0) {
      file_.refuse(family_.keys.hidden, fmt::format("found {}, no multiple of {} heads", hidden_.value, heads_.value));
    }
    set("emb", {hidden_.value / heads_.value,
                derived(fmt::format("'{}' over '{}'", family_.keys.hidden, family_.keys.heads))});
  }

  // Latent attention (MLA) in absorbed form: all heads share one latent row a token. The row is V; with rotary columns
  // it is K. The scale is that of the heads before absorption.
  void read_latent() {
    constexpr std::uint32_t kRank = 512, kRotary = 64, kPlain = 128;  // defaults of DeepseekV2Config, DeepseekV3Config
    const Number rank = number("kv_lora_rank", nullptr, kRank);
    const std::uint64_t rotary = number("qk_rope_head_dim", nullptr, kRotary).value;
    const std::uint64_t plain = number("qk_nope_head_dim", nullptr, kPlain).value;
    set("kv_heads", "1", derived("the latent row that all heads share"));
    set("emb", std::to_string(rank.value + rotary), derived("'kv_lora_rank' and 'qk_rope_head_dim'"));
    set("value_emb", std::to_string(rank.value), derived("'kv_lora_rank'"));
    const double factor = yarn_factor();
    set("scale", fmt::format("{:.9g}", factor * factor / std::sqrt(static_cast<double>(plain + rotary))),
        derived("'qk_nope_head_dim', 'qk_rope_head_dim' and the rotary embedding's 'mscale_all_dim'"));
    no_layer(file_.named("kv_lora_rank") +
             ": latent attention has projections of its own, which a layer cannot express");
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

  // Windows and causality of the selected layer type.
  void read_mask(const std::string& layer_type) {
    const Number layers = number(family_.keys.layers, ModelKeys{}.layers, family_.defaults.layers);
    if (layers.value > kMostLayers) {
      file_.refuse(family_.keys.layers, fmt::format("found {}; allowed is 1 to {}", layers.value, kMostLayers));
    }
    std::uint64_t window = 0;
    Provenance from;
    read_window(window, from);
    std::uint64_t sliding = 0;
    const char* const rule = count_sliding(layers.value, window, sliding);
    const std::uint64_t full = layers.value - sliding;
    const auto of_kinds = [&] { return fmt::format("{} layers are {} and {} are {}", sliding, kSliding, full, kFull); };
    if (!layer_type.empty() && layer_type != kSliding && layer_type != kFull) {
      throw ConfigError(fmt::format("{}: layer_type: found {}; allowed: {}, {}", file_.source(), in_quotes(layer_type),
                                    kFull, kSliding));
    }
    if (sliding > 0 && full > 0) {
      if (layer_type.empty()) {
        file_.refuse(rule, fmt::format("{}; allowed is one kind, as in hf:FOLDER,layer_type={} or layer_type={}",
                                       of_kinds(), kFull, kSliding));
      }
      result_.no_model = fmt::format("{}: {}, which one kind of layer cannot express", file_.named(rule), of_kinds());
    } else if (!layer_type.empty() && layer_type != (sliding > 0 ? kSliding : kFull)) {
      throw ConfigError(fmt::format("{}: layer_type: found {}; allowed is {}, as all {} layers are", file_.source(),
                                    in_quotes(layer_type), sliding > 0 ? kSliding : kFull, layers.value));
    }
    const bool windowed = layer_type.empty() ? sliding > 0 : layer_type == kSliding;
    if (result_.no_model.empty()) {
      set("layers", layers);
    } else {
      set("layers", std::to_string(windowed ? sliding : full), derived(fmt::format("'{}': {}", rule, of_kinds())));
    }
    const bool causal = read_causal(windowed, window, from);
    if (causal) set("causal", "1", of_type());
    if (windowed) set("window", std::to_string(window), from);
  }

  void read_window(std::uint64_t& window, Provenance& from) const {
    const WindowRule rule = family_.windows;
    if (rule == WindowRule::kNone) return;
    const bool used =
        rule == WindowRule::kAll || rule == WindowRule::kPattern || file_.flag("use_sliding_window").value_or(false);
    if (!used) return;
    const bool given = file_.has("sliding_window");  // null: no window, even if the class has a default
    window = given ? file_.whole("sliding_window", 0).value_or(0) : family_.defaults.window;
    from = given ? of_key("sliding_window") : of_class("sliding_window");
  }

  // Counts the layers with a window; returns the key that defines it.
  const char* count_sliding(std::uint64_t layers, std::uint64_t window, std::uint64_t& sliding) const {
    const WindowRule rule = family_.windows;
    const bool listed = rule == WindowRule::kFrom || rule == WindowRule::kAlternate || rule == WindowRule::kPattern;
    if (file_.find("layer_types") != nullptr) {
      sliding = count_listed(layers, listed);
      if (sliding > 0 && window == 0)
        file_.refuse("layer_types", "found 'sliding_attention' without a 'sliding_window'");
      return "layer_types";
    }
    if (window == 0) return "sliding_window";
    if (!listed) {
      sliding = layers;
      return "sliding_window";
    }
    if (rule == WindowRule::kPattern) {
      std::uint64_t pattern = family_.defaults.pattern;
      const char* key = "sliding_window";
      for (const char* name : {"_sliding_window_pattern", "sliding_window_pattern"}) {
        const auto given = family_.pattern_key ? file_.whole(name) : std::nullopt;
        if (given) pattern = *given;
        if (given) key = name;
      }
      sliding = layers - layers / pattern;
      return key;
    }
    const std::uint64_t bound = file_.whole("max_window_layers", 0).value_or(family_.defaults.max_window_layers);
    const std::uint64_t below = std::min(bound, layers);
    sliding = rule == WindowRule::kFrom ? layers - below : (below + 1) / 2;
    return "max_window_layers";
  }

  std::uint64_t count_listed(std::uint64_t layers, bool listed) const {
    const json& list = *file_.find("layer_types");
    if (!list.is_array() || list.size() != layers) {
      file_.refuse("layer_types",
                   fmt::format("found {}; allowed is a list of {} texts",
                               list.is_array() ? fmt::format("a list of {}", list.size()) : shown_value(list), layers));
    }
    std::uint64_t sliding = 0;
    for (const json& kind : list) {
      const std::string name = kind.is_string() ? kind.get<std::string>() : std::string();
      const bool known = name == kFull || (listed && name == kSliding);
      if (!known) {
        file_.refuse("layer_types", fmt::format("found {}; allowed in model_type '{}': {}", shown_value(kind), type_,
                                                listed ? fmt::format("{}, {}", kFull, kSliding) : kFull));
      }
      sliding += name == kSliding ? 1 : 0;
    }
    return sliding;
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
    if (family_.positions == Positions::kPatches) {
      constexpr std::uint32_t kImage = 224, kPatch = 16;  // defaults of ViTConfig
      const std::uint64_t side =
          number("image_size", nullptr, kImage).value / number("patch_size", nullptr, kPatch).value;
      if (side == 0) file_.refuse_value("image_size", "'patch_size' or more");
      set("seq", std::to_string(side * side + 1), derived("patches of the image, and the class token"));
      return;
    }
    std::uint64_t tokens = kMostTokens;
    if (family_.defaults.positions > 0 || file_.find(key) != nullptr) {
      tokens = number(key, ModelKeys{}.positions, family_.defaults.positions).value;
    }
    if (family_.positions == Positions::kAfterPadding) {
      constexpr std::uint64_t kPadding = 1;  // default of RobertaConfig; positions begin behind it
      const std::uint64_t before = file_.whole("pad_token_id", 0).value_or(kPadding) + 1;
      if (tokens <= before) file_.refuse_value(key, fmt::format("more than 'pad_token_id' + 1, {}", before));
      tokens -= before;
    }
    if (tokens > kMostTokens) {
      set("seq", std::to_string(kMostTokens), {ProvenanceKind::kAssumed, "as many as are asked for", {}});
    } else {
      set("seq", std::to_string(tokens), derived(fmt::format("'{}'", key)));
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

  double rotary_share() const {
    for (const char* key : {"rope_parameters", "rope_scaling"}) {
      const auto rope = file_.inside(key);
      if (rope && rope->has("partial_rotary_factor")) return rope->positive("partial_rotary_factor").value_or(1);
    }
    return file_.positive("partial_rotary_factor").value_or(family_.rotary_share);
  }

  // Structure of the layer around attention; no_layer() records why it cannot be expressed.
  void read_layer() {
    if (family_.experts) no_layer(fmt::format("model_type '{}': experts are not one feed-forward network", type_));
    if (family_.parallel) {
      no_layer(fmt::format("model_type '{}': attention and feed-forward network run side by side", type_));
    }
    if (family_.rotary && rotary_share() != 1)
      no_layer(file_.named("partial_rotary_factor") + ": heads are turned in part");
    if (const char* const key = key_of_experts(); key != nullptr) {
      no_layer(file_.named(key) + ": experts are not one feed-forward network");
    }
    if (file_.flag("add_cross_attention").value_or(false)) {
      no_layer(file_.named("add_cross_attention") + ": cross-attention is not part of a layer");
    }
    if (family_.encoder_decoder && file_.flag("is_encoder_decoder").value_or(true) && result_.no_model.empty()) {
      result_.no_model = fmt::format("model_type '{}': a decoder with cross-attention is not part of a model", type_);
    }
    bool gated = family_.gated;
    const std::string activation = read_activation(gated);
    if (!result_.no_layer.empty()) return;
    set("hidden", hidden_);
    set("ffn", family_.defaults.ffn == 0 && file_.find(family_.keys.ffn) == nullptr
                   ? Number{4 * hidden_.value, derived(fmt::format("4 times '{}'", family_.keys.hidden))}  // GPT-2
                   : number(family_.keys.ffn, nullptr, family_.defaults.ffn));
    if (gated) set("gated", "1", of_type());
    set("norm", family_.rms_norm ? "rmsnorm" : "layernorm", of_type());
    set("norm_place", family_.norm_place, of_type());
    set("activation", activation, of_type());
    if (family_.rotary) set("rotary", "1", of_type());
    if (family_.qk_norm) set("qk_norm", "1", of_type());
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
    for (const auto& [name, known] : model_families()) {
      if (known.refused == nullptr) names.push_back(name);
    }
    file.refuse("model_type", fmt::format("found {}; allowed: {}", in_quotes(type), fmt::join(names, ", ")));
  }
  if (family->second.refused != nullptr) {
    file.refuse("model_type", fmt::format("found '{}': {}", type, family->second.refused));
  }
  return ModelReader(file, family->second, type).read(layer_type);
}

}  // namespace attnvp::workload
