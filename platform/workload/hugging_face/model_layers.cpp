#include <fmt/format.h>

#include <algorithm>

#include "platform/machine/words.h"
#include "platform/workload/hugging_face/model_reader.h"

namespace attnvp::workload {

using namespace config;

using nlohmann::json;

namespace {

constexpr std::uint64_t kMostLayers = 1024;
constexpr const char* kSliding = kSlidingAttention;
constexpr const char* kFull = kFullAttention;

}  // namespace

void ModelReader::read_layers(const std::string& layer_type) {
  const Number layers = number(family_.keys.layers, ModelKeys{}.layers, family_.sizes.layers);
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

void ModelReader::set_decoder(const Number& layers) {
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
  is_same(d.ffn, family_.keys.ffn, number(family_.keys.ffn, ModelKeys{}.ffn, family_.sizes.ffn).value);
  if (family_.mel_bins > 0) set("mel_bins", number("num_mel_bins", nullptr, family_.mel_bins));
}

void ModelReader::set_blocks(const std::vector<LayerFeatures>& kinds, const Number& layers, bool is_windowed) {
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

std::vector<std::uint64_t> ModelReader::indices(const char* key, std::uint64_t layers) const {
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

void ModelReader::read_experts(std::vector<LayerFeatures>& kinds) {
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
  const Number ffn = number(width, nullptr, e.ffn == nullptr ? family_.sizes.ffn : e.ffn_default);
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

void ModelReader::read_window(std::uint64_t& window, Provenance& from) const {
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

void ModelReader::read_windows(std::vector<LayerFeatures>& kinds, std::uint64_t window) const {
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

bool ModelReader::read_list(std::vector<LayerFeatures>& kinds, bool listed) const {
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

bool ModelReader::read_causal(bool windowed, std::uint64_t& window, Provenance& from) const {
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

}  // namespace attnvp::workload
