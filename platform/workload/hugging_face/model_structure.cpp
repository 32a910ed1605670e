#include <fmt/format.h>

#include <cmath>
#include <map>

#include "platform/machine/words.h"
#include "platform/workload/hugging_face/model_reader.h"

namespace attnvp::workload {

using namespace config;

namespace {

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

}  // namespace

void ModelReader::read_model() {
  if (const char* const key = family_.experts.rule == ExpertRule::kNone ? key_of_experts() : nullptr; key != nullptr) {
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

const char* ModelReader::key_of_experts() const {
  for (const auto& [key, value] : file_.keys().items()) {
    const bool named = key.find("expert") != std::string::npos || key.compare(0, 4, "moe_") == 0;
    if (named && value.is_number() && value.get<double>() > 0) return file_.keys().find(key).key().c_str();
  }
  return nullptr;
}

double ModelReader::rotary_share() const {
  for (const char* key : {"rope_parameters", "rope_scaling"}) {
    const auto rope = file_.inside(key);
    if (rope && rope->has("partial_rotary_factor")) return rope->positive("partial_rotary_factor").value_or(1);
  }
  return file_.positive(family_.share_key).value_or(family_.rotary_share);
}

ModelReader::Number ModelReader::read_ffn() const {
  if (family_.dense_ffn != nullptr) return number(family_.dense_ffn, nullptr, family_.dense_ffn_default);
  const char* const key = family_.keys.ffn;
  if (family_.sizes.ffn > 0 || file_.find(key) != nullptr) return number(key, nullptr, family_.sizes.ffn);
  if (type_ == "mpt") {
    constexpr std::uint32_t kRatio = 4;  // default of MptConfig
    return {number("expansion_ratio", nullptr, kRatio).value * hidden_.value, derived("'expansion_ratio'")};
  }
  return {4 * hidden_.value, derived(fmt::format("4 times '{}'", family_.keys.hidden))};
}

void ModelReader::read_order() {
  std::string order = family_.order;
  if (family_.order_key != nullptr && !file_.flag(family_.order_key).value_or(true)) order = "sequential";
  if (type_ == "falcon" && file_.flag("new_decoder_architecture").value_or(false)) {
    order = file_.whole("num_ln_in_parallel_attn").value_or(2) == 2 ? "parallel-norms" : "parallel";
  }
  if (order != "sequential") set("order", order, of_type());
}

void ModelReader::read_rotary() {
  set("rotary", "1", of_type());
  if (family_.defaults.rotary_dim > 0) {
    const Number columns = number("rotary_dim", nullptr, family_.defaults.rotary_dim);
    if (columns.value != width_) set("rotary_emb", columns);
  } else if (const double share = rotary_share(); share != 1) {
    const auto columns = static_cast<std::uint64_t>(std::floor(share * static_cast<double>(width_)));
    set("rotary_emb", std::to_string(columns / 2 * 2), derived(fmt::format("{:g} of a head's columns", share)));
  }
}

void ModelReader::read_ends() {
  if (family_.sizes.vocabulary > 0 && (has_decoder() || family_.mel_bins == 0)) {
    set("vocabulary", number(family_.keys.vocabulary, nullptr, family_.sizes.vocabulary));
    const auto tied = file_.flag("tie_word_embeddings");
    if (tied.value_or(family_.sizes.tied)) {
      set("tied", "1", tied ? of_key("tie_word_embeddings") : of_class("tie_word_embeddings"));
    }
  }
  if (!family_.last_projection && !has_decoder()) set("logits", "none", of_type());
  if (family_.embedding_norm) set("embedding_norm", "1", of_type());
  if (!family_.learned_positions) return;
  set("positions", std::to_string(tokens_), derived("positions that tokens can have"));
}

void ModelReader::read_weights() {
  const auto quantisation = file_.inside("quantization_config");
  if (!quantisation || !has_experts_ || quantisation->text("quant_method") != "mxfp4") return;
  set("expert_weights", "mxfp4", of_key("quantization_config"));
}

std::string ModelReader::read_activation(bool& gated) {
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

using namespace config;

using nlohmann::json;

void ModelReader::read_heads() {
  heads_ = number(family_.keys.heads, ModelKeys{}.heads, family_.sizes.heads);
  hidden_ = number(family_.keys.hidden, ModelKeys{}.hidden, family_.sizes.hidden);
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
    const Number kv_heads = given                                    ? Number{*given, of_key(key)}
                            : left_out && family_.sizes.kv_heads > 0 ? Number{family_.sizes.kv_heads, of_class(key)}
                                                                     : heads_;
    if (heads_.value % kv_heads.value != 0) {
      file_.refuse(key, fmt::format("{} {}; allowed is a divisor of {} heads", given ? "found" : "its default is",
                                    kv_heads.value, heads_.value));
    }
    if (kv_heads.value != heads_.value) set("kv_heads", kv_heads);
  }
  read_width();
}

void ModelReader::read_width() {
  const char* const key = family_.keys.head_dim;
  if (const auto width = key == nullptr ? std::nullopt : file_.whole(key)) return set_width({*width, of_key(key)});
  if (family_.sizes.head_dim > 0) return set_width({family_.sizes.head_dim, of_class(key)});
  if (hidden_.value % heads_.value != 0) {
    file_.refuse(family_.keys.hidden, fmt::format("found {}, no multiple of {} heads", hidden_.value, heads_.value));
  }
  set_width(
      {hidden_.value / heads_.value, derived(fmt::format("'{}' over '{}'", family_.keys.hidden, family_.keys.heads))});
}

void ModelReader::set_width(const Number& width) {
  width_ = width.value;
  set("emb", width);
}

void ModelReader::read_latent() {
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

double ModelReader::yarn_factor() const {
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

void ModelReader::read_scores() {
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

}  // namespace attnvp::workload
