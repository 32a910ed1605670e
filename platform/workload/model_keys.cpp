// Keys of a network that describe the model around attention, and their completion.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "models/keys/binding.h"
#include "platform/machine/words.h"
#include "platform/workload/keys.h"

namespace attnvp::workload {

using namespace config;
namespace {

using K = NetworkKeys;

constexpr std::uint32_t kMostOfLayers = 1024;
constexpr double kWidest = 65536, kMostVocabulary = 1 << 22, kMostExperts = 4096;

Key<K> switch_key(const std::string& path, const std::string& meaning, bool Model::*field) {
  Key<K> key;
  static_cast<KeyInfo&>(key) = number(path, KeyUnit::kCount, 0, 1, "1: " + meaning);
  key.get = [field](const K& k) -> Value { return std::uint64_t{k.model.*field}; };
  key.set = [field](K& k, const Value& value) { k.model.*field = std::get<std::uint64_t>(value) != 0; };
  return key;
}

template <typename... Members>
Key<K> model_key(const std::string& path, double most, const std::string& meaning, const std::string& none,
                 Members... members) {
  Key<K> key = make_key<K>(number(path, KeyUnit::kCount, 1, most, meaning), &K::model, members...);
  key.default_note = none;
  return key;
}

Key<K> group_key() {
  Key<K> key = make_key<K>(number("group", KeyUnit::kCount, 0, 128,
                                  "elements of a column of weights that share a scale: 32, 64, 128; 0: all"),
                           &K::weight_group);
  key.default_note = "of int4 128, of int8 and fp8_e4m3 0";
  return key;
}

std::vector<std::string> weight_choices() {
  std::vector<std::string> names = weight_names();
  names.insert(names.begin(), "auto");
  return names;
}

Key<K> text_key(const std::string& path, const std::string& meaning, const std::string& none, std::string K::*field) {
  Key<K> key = make_key<K>(config::text(path, meaning), field);
  key.default_note = none;
  return key;
}

// Number of `least` to `most` in a text.
double number_of(const std::string& given, double least, double most, const Origin& origin, const std::string& name) {
  const std::string_view part = trimmed(given);
  double value = 0;
  const auto [rest, error] = std::from_chars(part.data(), part.data() + part.size(), value);
  if (error != std::errc{} || rest != part.data() + part.size() || !(value >= least && value <= most)) {
    fail(origin,
         fmt::format("key '{}': found {}; allowed is a number of {} to {}", name, in_quotes(given), least, most));
  }
  return value;
}

}  // namespace

std::vector<Key<K>> model_keys() {
  return {
      make_key<K>(number("layers", KeyUnit::kCount, 1, kMostOfLayers, "layers of the model"), &K::model,
                  &Model::layers),
      text_key(
          "blocks",
          "layers that differ, such as 3*dense+58*experts or 12*full+36*window: counts, and by '.' window or full, "
          "experts or dense, rotary or nope, encoder or cross (with attention to the encoder's rows)",
          "all alike", &K::blocks),
      model_key("encoder", kLongestSequence, "rows of the encoder, to which 'cross' layers attend", "as many as keys",
                &Model::encoder),
      model_key("mel_bins", kWidest,
                "bins of a frame of sound, of which there are two for a row of the encoder; its embedding is two "
                "convolutions",
                "none", &Model::mel_bins),
      model_key("block", kMostOfLayers, "the block that scope=attention and scope=layer run", "1", &Model::block),
      model_key("hidden", kWidest, "width of the model between its operations", "unknown", &Model::hidden),
      model_key("ffn", kWidest, "width of its feed-forward network", "unknown", &Model::ffn),
      switch_key("gated", "the network's first product is two, one a gate of the other", &Model::gated),
      make_key<K>(choice("norm", {"auto", "layernorm", "rmsnorm", "none"},
                         "norms of the layer; auto: rmsnorm where its network is gated, or layernorm"),
                  &K::norm),
      make_key<K>(choice("norm_place", {"pre", "post", "both", "behind"},
                         "where they are: before attention and network; post: behind the sum with what went in; both: "
                         "before, and behind before the sum; behind: only there"),
                  &K::model, &Model::norm_place),
      make_key<K>(choice("order", {"sequential", "parallel", "parallel-norms"},
                         "network behind attention, or beside it: both on one norm, or on a norm each"),
                  &K::model, &Model::order),
      make_key<K>(choice("activation", {"auto", "relu", "silu", "gelu", "gelu_tanh"},
                         "of the feed-forward network; auto: silu where it is gated, or gelu"),
                  &K::activation),
      switch_key("rotary", "Q and K have a rotary embedding", &Model::rotary),
      model_key("rotary_emb", kWidest, "columns of a head that the rotary embedding rotates, an even number", "all",
                &Model::rotary_emb),
      switch_key("qk_norm", "every head of Q and K has a norm", &Model::qk_norm),
      switch_key("linear",
                 "of a layer its products and attention alone, without norms, activations, sums and rotary embedding",
                 &Model::linear),
      make_key<K>(
          choice("fuse", {"off", "on", "auto"},
                 "on: products of a layer include the norm before them, and the activation, rotary embedding or "
                 "sum behind them; auto: where that takes no more cycles"),
          &K::model, &Model::fuse),
      make_key<K>(choice("weights", weight_choices(),
                         "type of the weights of products, which vector engines convert; auto: as 'type'"),
                  &K::weights),
      group_key(),
      make_key<K>(choice("expert_weights", weight_choices(),
                         "type of the weights of routed experts, with its default group; auto: as 'weights'"),
                  &K::expert_weights),
      model_key("kv_rank", kWidest, "latent attention: elements of a token's row of which K and V are projections",
                "none", &Model::latent, &Latent::kv_rank),
      model_key("q_rank", kWidest, "latent attention: elements between the two projections of Q", "one projection",
                &Model::latent, &Latent::q_rank),
      model_key("nope_emb", kWidest, "latent attention: columns of a head of Q and K without rotary embedding", "none",
                &Model::latent, &Latent::plain),
      model_key("rope_emb", kWidest, "latent attention: columns of a head of Q and K with rotary embedding", "none",
                &Model::latent, &Latent::rotary),
      model_key("v_emb", kWidest, "latent attention: columns of a head of V", "none", &Model::latent, &Latent::values),
      make_key<K>(choice("mla", {"auto", "absorbed", "plain"},
                         "latent attention: on the rows of the tokens, or on K and V of all heads; auto: absorbed in "
                         "decode and with scope=attention"),
                  &K::model, &Model::latent, &Latent::form),
      model_key("experts", kMostExperts, "routed experts in place of the network", "none", &Model::experts,
                &Experts::count),
      model_key("experts_per_token", kMostExperts, "routed experts of a token", "1", &Model::experts, &Experts::chosen),
      model_key("expert_ffn", kWidest, "width of an expert", "ffn", &Model::experts, &Experts::ffn),
      model_key("shared_ffn", kWidest, "width of all shared experts together", "none", &Model::experts,
                &Experts::shared_ffn),
      text_key("expert_skew", "exponent of Zipf's law by which tokens choose experts; 0: all alike", "0",
               &K::expert_skew),
      text_key("expert_capacity", "most tokens of an expert, as a multiple of their mean; others are dropped", "all",
               &K::expert_capacity),
      make_key<K>(number("expert_seed", KeyUnit::kCount, 1, 1e9, "seed of the draw of experts"), &K::model,
                  &Model::experts, &Experts::seed),
      model_key("vocabulary", kMostVocabulary, "rows of the table of tokens and of the last projection", "none",
                &Model::vocabulary),
      switch_key("tied", "the last projection has the table of tokens as weights", &Model::tied),
      model_key("positions", kMostVocabulary, "learned positions, which are added to the embedding", "none",
                &Model::positions),
      model_key("patch", kMostVocabulary, "elements of a patch; its projection is the embedding", "none",
                &Model::patch),
      switch_key("embedding_norm", "a norm behind the embedding", &Model::embedding_norm),
      make_key<K>(choice("logits", {"auto", "all", "last", "none"},
                         "tokens of the last projection; auto: all in decode, or the last of each sequence"),
                  &K::model, &Model::logits),
      make_key<K>(choice("scope", {"attention", "layer", "model"},
                         "layer: its projections and feed-forward network, too; model: all layers, embedding and last "
                         "projection"),
                  &K::scope),
  };
}

namespace {

void complete_weights(Model& m, const K& keys, const Origin& origin, const NameOf& name_of) {
  const bool has_group = keys.weight_group != K::kOwnGroup;
  const auto refuse = [&](const char* setting, const std::string& allowed) {
    fail(origin, fmt::format("key '{}': found {}; allowed: {}", name_of(setting), keys.weight_group, allowed));
  };
  if (keys.weights != "auto") {
    m.weights = weights_of(keys.weights, has_group ? std::optional(keys.weight_group) : std::nullopt, refuse);
  } else if (has_group) {
    fail(origin, fmt::format("key '{}': it needs '{}'", name_of("group"), name_of("weights")));
  }
  m.expert_weights = m.weights;
  if (keys.expert_weights != "auto") m.expert_weights = weights_of(keys.expert_weights, std::nullopt, refuse);
  const bool takes = std::any_of(std::begin(hal::kElementTypes), std::end(hal::kElementTypes),
                                 [&](const auto& info) { return keys.type == info.name && takes_weights(info.type); });
  for (const auto& [name, weights] : {std::pair{"weights", &m.weights}, {"expert_weights", &m.expert_weights}}) {
    if (!weights->any() || takes) continue;
    fail(origin, fmt::format("key '{}': found {} with '{}' {}; allowed are fp16, bf16", name_of(name),
                             weights->format->name, name_of("type"), keys.type));
  }
}

void check_cross(const Model& m, const std::function<void(const char*, const std::string&)>& refuse) {
  for (const Block& b : m.blocks) {
    if (b.is_encoder && b.has_cross)
      refuse("blocks", "found 'encoder' and 'cross' of one layer; allowed is one of them");
  }
  if (m.order != Order::kSequential) refuse("order", "with 'cross' layers allowed is sequential");
  if (m.latent.kv_rank > 0) refuse("kv_rank", "with 'cross' layers allowed is no latent attention");
}

std::uint32_t first_of_decoder(const Model& m) {
  const auto first = std::find_if(m.blocks.begin(), m.blocks.end(), [](const Block& b) { return !b.is_encoder; });
  return static_cast<std::uint32_t>(first - m.blocks.begin()) + 1;
}

// Removes the encoder's layers, which have run; the selected block is another one.
void leave_encoder(Model& m) {
  const auto is_encoder = [](const Block& b) { return b.is_encoder; };
  const auto first = m.blocks.begin();
  m.block -= static_cast<std::uint32_t>(std::count_if(first, first + m.block, is_encoder));
  m.blocks.erase(std::remove_if(first, m.blocks.end(), is_encoder), m.blocks.end());
  m.layers = 0;
  for (const Block& b : m.blocks) m.layers += b.count;
}

void complete_blocks(Model& m, const K& keys, const Origin& origin, const NameOf& name_of) {
  const auto refuse = [&](const char* key, const std::string& why) {
    fail(origin, fmt::format("key '{}': {}", name_of(key), why));
  };
  if (!keys.blocks.empty()) {
    m.blocks = parse_blocks(keys.blocks, [&](const std::string& allowed) {
      refuse("blocks", fmt::format("found {}; {}", in_quotes(keys.blocks), allowed));
    });
    std::uint64_t layers = 0;
    bool windows = false, experts = false, rotary = false;
    for (const Block& b : m.blocks) {
      layers += b.count;
      windows = windows || !b.has_window;
      experts = experts || !b.has_experts;
      rotary = rotary || !b.is_rotary;
    }
    if (layers > kMostOfLayers) refuse("blocks", fmt::format("found {} layers; allowed are {}", layers, kMostOfLayers));
    if (m.layers > 1 && m.layers != layers) {
      refuse("layers", fmt::format("found {}; the blocks have {}", m.layers, layers));
    }
    m.layers = static_cast<std::uint32_t>(layers);
    const bool encodes = std::any_of(m.blocks.begin(), m.blocks.end(), [](const Block& b) { return b.is_encoder; });
    if (encodes && !m.has_cross()) refuse("blocks", "found 'encoder' layers; it needs 'cross' layers");
    if (windows && keys.attention.mask.window == 0) refuse("blocks", "found 'full' layers; it needs 'window'");
    if (experts && m.experts.count == 0) refuse("blocks", "found 'dense' layers; it needs 'experts'");
    if (rotary && !m.rotary) refuse("blocks", "found 'nope' layers; it needs 'rotary'");
  }
  if (m.has_cross()) check_cross(m, refuse);
  for (const auto& [key, value] : {std::pair{"encoder", m.encoder}, {"mel_bins", m.mel_bins}}) {
    if (value > 0 && !m.has_cross()) refuse(key, "it needs 'blocks' with 'cross' layers");
  }
  m.has_encoder_cache = m.has_cross() && keys.phase == Phase::kDecode;
  if (m.block == 0) m.block = m.has_encoder_cache ? first_of_decoder(m) : 1;
  if (const std::size_t most = m.all_blocks().size(); m.block > most) {
    refuse("block", fmt::format("found {}; allowed is 1 to {}", m.block, most));
  }
  --m.block;
  if (!m.has_encoder_cache) return;
  if (m.blocks[m.block].is_encoder) {
    refuse("block", fmt::format("found {}, layers of the encoder, which phase=decode does not run", m.block + 1));
  }
  leave_encoder(m);
}

}  // namespace

void complete_model(Model& m, const K& keys, const Origin& origin, const NameOf& name_of) {
  const auto refuse = [&](const char* key, const std::string& why) {
    fail(origin, fmt::format("key '{}': {}", name_of(key), why));
  };
  m.norm = m.gated ? Norm::kRmsNorm : Norm::kLayerNorm;
  if (keys.norm != NormKind::kAuto) m.norm = static_cast<Norm>(static_cast<int>(keys.norm) - 1);
  m.activation = m.gated ? hal::Activation::kSilu : hal::Activation::kGelu;
  if (keys.activation != ActivationKind::kAuto) {
    m.activation = static_cast<hal::Activation>(static_cast<int>(keys.activation) - 1);
  }
  const bool decodes = keys.phase == Phase::kDecode;
  if (m.logits == Logits::kAuto) m.logits = decodes ? Logits::kAll : Logits::kLast;
  if (m.order != Order::kSequential && m.norm_place == NormPlace::kPost) {
    refuse("order", "with norm_place=post allowed is sequential");
  }
  if (m.rotary_emb % 2 != 0) refuse("rotary_emb", fmt::format("found {}; allowed are even numbers", m.rotary_emb));
  Latent& l = m.latent;
  if (l.kv_rank > 0) {
    for (const auto& [key, value] : {std::pair{"nope_emb", l.plain}, {"rope_emb", l.rotary}, {"v_emb", l.values}}) {
      if (value == 0) refuse(key, fmt::format("it is missing; '{}' needs it", name_of("kv_rank")));
    }
    if (l.rotary % 2 != 0) refuse("rope_emb", fmt::format("found {}; allowed are even numbers", l.rotary));
    if (l.form == LatentForm::kAuto) {
      l.form = decodes || keys.scope == Scope::kAttention ? LatentForm::kAbsorbed : LatentForm::kPlain;
    }
  }
  Experts& e = m.experts;
  if (e.count > 0) {
    if (e.chosen > e.count) {
      refuse("experts_per_token", fmt::format("found {}; allowed is at most {} experts", e.chosen, e.count));
    }
    if (e.ffn == 0) e.ffn = m.ffn;
    if (!keys.expert_skew.empty()) e.skew = number_of(keys.expert_skew, 0, 8, origin, name_of("expert_skew"));
    if (!keys.expert_capacity.empty()) {
      e.capacity = number_of(keys.expert_capacity, 0x1p-10, 1024, origin, name_of("expert_capacity"));
    }
  }
  complete_weights(m, keys, origin, name_of);
  complete_blocks(m, keys, origin, name_of);
}

}  // namespace attnvp::workload
