#include "platform/config/hugging_face.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>

#include "platform/config/words.h"

namespace attnvp::config {

namespace {

using nlohmann::json;

constexpr std::uint64_t kMostTokens = 2048;  // where nothing else is asked for

// What a model's type says of its attention.
struct Family {
  bool causal = true, scaled = true;
  bool gated = true;  // its feed-forward network
  const char* norm_place = "pre";
  bool rotary = true, qk_norm = false;
};
const std::map<std::string, Family>& families() {
  constexpr Family kQwen3{true, true, true, "pre", true, true}, kOfGemma2{true, true, true, "both"};
  constexpr Family kOfBert{false, true, false, "post", false};
  static const std::map<std::string, Family> all = {{"llama", {}},
                                                    {"mistral", {}},
                                                    {"mixtral", {}},
                                                    {"qwen2", {}},
                                                    {"qwen3", kQwen3},
                                                    {"qwen2_moe", {}},
                                                    {"qwen3_moe", kQwen3},
                                                    {"gemma", {}},
                                                    {"gemma2", kOfGemma2},
                                                    {"gemma3", {true, true, true, "both", true, true}},
                                                    {"gemma3_text", {true, true, true, "both", true, true}},
                                                    {"deepseek_v2", {}},
                                                    {"deepseek_v3", {}},
                                                    {"phi", {true, true, false}},
                                                    {"phi3", {}},
                                                    {"gpt2", {true, true, false, "pre", false}},
                                                    {"bert", kOfBert},
                                                    {"roberta", kOfBert},
                                                    {"vit", {false, true, false, "pre", false}},
                                                    {"t5", {false, false, false, "pre", false}}};
  return all;
}

class Reader {
 public:
  Reader(const json& root, std::string source) : root_(&root), source_(std::move(source)) {}

  const json* find(std::initializer_list<const char*> names) const {
    for (const char* name : names) {
      const auto at = root_->find(name);
      if (at != root_->end() && !at->is_null()) return &*at;
    }
    return nullptr;
  }
  // The first of these keys; 0 where none is there.
  std::uint64_t whole(std::initializer_list<const char*> names) const {
    const json* value = find(names);
    if (value == nullptr) return 0;
    const bool number = value->is_number_unsigned() && value->get<std::uint64_t>() >= 1;
    if (!number || value->get<std::uint64_t>() > UINT32_MAX) {
      refuse(fmt::format("key '{}': found {}; allowed is a whole number from 1 on", name_of(names),
                         in_quotes(value->dump())));
    }
    return value->get<std::uint64_t>();
  }
  std::uint64_t needed(std::initializer_list<const char*> names) const {
    const std::uint64_t value = whole(names);
    if (value == 0) refuse(fmt::format("key '{}' is missing", *names.begin()));
    return value;
  }
  std::string text(const char* name) const {
    const json* value = find({name});
    if (value == nullptr || !value->is_string()) refuse(fmt::format("key '{}' is missing, or no text", name));
    return value->get<std::string>();
  }
  [[noreturn]] void refuse(const std::string& why) const { throw ConfigError(source_ + ": " + why); }

 private:
  std::string name_of(std::initializer_list<const char*> names) const {
    for (const char* name : names) {
      if (root_->contains(name)) return name;
    }
    return *names.begin();
  }
  const json* root_;
  std::string source_;
};

// Of T5 the form may say it: "gated-gelu".
std::string activation_of(const Reader& r, bool gated) {
  static const std::map<std::string, std::string> known = {{"relu", "relu"},
                                                           {"silu", "silu"},
                                                           {"swish", "silu"},
                                                           {"gelu", "gelu"},
                                                           {"gelu_new", "gelu_tanh"},
                                                           {"gelu_fast", "gelu_tanh"},
                                                           {"gelu_pytorch_tanh", "gelu_tanh"},
                                                           {"gated-gelu", "gelu_tanh"}};
  const json* const name =
      r.find({"hidden_activation", "hidden_act", "activation_function", "feed_forward_proj", "dense_act_fn"});
  if (name == nullptr) return gated ? "silu" : "gelu";
  const auto found = name->is_string() ? known.find(name->get<std::string>()) : known.end();
  if (found != known.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [allowed, unused] : known) names.push_back(allowed);
  r.refuse(fmt::format("the activation: found {}; allowed: {}", in_quotes(name->dump()), fmt::join(names, ", ")));
}

}  // namespace

std::vector<Setting> read_hugging_face(const std::string& given) {
  namespace fs = std::filesystem;
  std::error_code error;
  const std::string path = fs::is_directory(given, error) ? (fs::path(given) / "config.json").string() : given;
  if (!fs::exists(path, error)) throw ConfigError(fmt::format("{}: no such file", shown_path(path)));
  const std::string source = shown_path(path);
  json root = json::parse(read_text_file(path), nullptr, false);
  if (root.is_discarded() || !root.is_object()) throw ConfigError(source + ": it is no JSON object");
  if (const auto text = root.find("text_config"); text != root.end() && text->is_object()) root = json(*text);
  const Reader r(root, source);

  const std::string type = r.text("model_type");
  const auto family = families().find(type);
  if (family == families().end()) {
    std::vector<std::string> names;
    for (const auto& [name, unused] : families()) names.push_back(name);
    r.refuse(fmt::format("key 'model_type': found {}; allowed: {}", in_quotes(type), fmt::join(names, ", ")));
  }
  std::vector<Setting> settings;
  const auto set = [&](const char* key, const std::string& value) { settings.push_back({key, value, {source}}); };
  const std::uint64_t heads = r.needed({"num_attention_heads", "n_head", "num_heads"});
  set("heads", std::to_string(heads));
  // Latent attention in its absorbed form: all heads share one latent row a token, which is V, and with a few columns
  // for positions K. What scales them is the width of the heads that were absorbed.
  const std::uint64_t latent = r.whole({"kv_lora_rank"});
  if (latent > 0) {
    const std::uint64_t positions = r.needed({"qk_rope_head_dim"});
    set("kv_heads", "1");
    set("emb", std::to_string(latent + positions));
    set("value_emb", std::to_string(latent));
    set("scale", fmt::format("{:.9g}", 1 / std::sqrt(static_cast<double>(r.needed({"qk_nope_head_dim"}) + positions))));
  }
  const std::uint64_t kv_heads = latent > 0 ? 0 : r.whole({"num_key_value_heads"});
  if (kv_heads > 0 && kv_heads != heads) set("kv_heads", std::to_string(kv_heads));
  std::uint64_t emb = r.whole({"head_dim", "d_kv"});
  if (emb == 0 && latent == 0) {
    const std::uint64_t hidden = r.needed({"hidden_size", "n_embd", "d_model"});
    if (hidden % heads != 0)
      r.refuse(fmt::format("key 'hidden_size': found {}, no multiple of {} heads", hidden, heads));
    emb = hidden / heads;
  }
  if (latent == 0) set("emb", std::to_string(emb));
  // The layer around it. Models of experts have no feed-forward network of one width.
  const std::uint64_t hidden = r.whole({"hidden_size", "n_embd", "d_model"});
  std::uint64_t ffn =
      r.find({"num_local_experts", "num_experts"}) != nullptr ? 0 : r.whole({"intermediate_size", "n_inner", "d_ff"});
  if (type == "gpt2" && ffn == 0) ffn = 4 * hidden;
  if (hidden > 0 && ffn > 0) {
    set("hidden", std::to_string(hidden));
    set("ffn", std::to_string(ffn));
    const json* form = r.find({"feed_forward_proj"});
    const bool gated =
        form != nullptr ? form->is_string() && form->get<std::string>().rfind("gated", 0) == 0 : family->second.gated;
    if (gated) set("gated", "1");
    set("norm", r.find({"rms_norm_eps"}) != nullptr || type == "t5" ? "rmsnorm" : "layernorm");
    set("norm_place", family->second.norm_place);
    set("activation", activation_of(r, gated));
    if (family->second.rotary) set("rotary", "1");
    if (family->second.qk_norm) set("qk_norm", "1");
  }
  set("layers", std::to_string(r.needed({"num_hidden_layers", "n_layer", "num_layers"})));
  std::uint64_t tokens = r.whole({"max_position_embeddings", "n_positions"});
  if (type == "vit") {
    const std::uint64_t side = r.needed({"image_size"}) / r.needed({"patch_size"});
    tokens = side * side + 1;  // and the class token
  }
  set("seq", std::to_string(tokens == 0 ? kMostTokens : std::min(tokens, kMostTokens)));
  if (family->second.causal) set("causal", "1");
  // Heads of some models are scaled by another width than their own.
  const std::uint64_t scalar = r.whole({"query_pre_attn_scalar"});
  if (scalar > 0) {
    set("scale", fmt::format("{:.9g}", 1 / std::sqrt(static_cast<double>(scalar))));
  } else if (family->second.scaled && latent == 0) {
    set("scale", "1/sqrt(E)");
  }
  if (const json* cap = r.find({"attn_logit_softcapping"}); cap != nullptr) {
    if (!cap->is_number() || !(cap->get<double>() > 0)) {
      r.refuse(
          fmt::format("key 'attn_logit_softcapping': found {}; allowed is a number above 0", in_quotes(cap->dump())));
    }
    set("softcap", fmt::format("{:.9g}", cap->get<double>()));
  }
  const json* use = r.find({"use_sliding_window"});
  if (use == nullptr || !use->is_boolean() || use->get<bool>()) {
    if (const std::uint64_t window = r.whole({"sliding_window"}); window > 0) set("window", std::to_string(window));
  }
  return settings;
}

}  // namespace attnvp::config
