// Keys of a network and their short names on the command line.
#include "platform/workload/keys.h"

#include "firmware/hal/job.h"
#include "models/keys/binding.h"

namespace attnvp::workload {

using namespace config;
namespace {

using K = NetworkKeys;

constexpr double kMostHeads = 65536;
constexpr double kWidestEmbedding = 65536;

Key<K> size_key(const std::string& path, double maximum, const std::string& meaning, std::uint32_t Attention::*field) {
  return make_key<K>(number(path, KeyUnit::kCount, 1, maximum, meaning), &K::attention, field);
}

Key<K> required(Key<K> key) {
  key.required = true;
  return key;
}

Key<K> with_note(Key<K> key, std::string note) {
  key.default_note = std::move(note);
  return key;
}

// Names of the types with property `has`, in table order.
std::vector<std::string> type_names(bool hal::ElementTypeInfo::*has, std::vector<std::string> names = {}) {
  for (const hal::ElementTypeInfo& info : hal::kElementTypes) {
    if (info.*has) names.emplace_back(info.name);
  }
  return names;
}

// Adds the keys of the model, and a key for each mask kind that is a flag.
std::vector<Key<K>> with_others(std::vector<Key<K>> keys) {
  for (Key<K>& key : model_keys()) keys.push_back(std::move(key));
  for (const hal::MaskKindInfo& kind : hal::kMaskKinds) {
    if (kind.hides == nullptr) continue;
    Key<K> key;
    static_cast<KeyInfo&>(key) =
        number(kind.name, KeyUnit::kCount, 0, 1, std::string("1: a query attends to ") + kind.about);
    const std::uint8_t bit = kind.bit;
    key.get = [bit](const K& k) -> Value { return std::uint64_t{(k.attention.mask.bits & bit) != 0}; };
    key.set = [bit](K& k, const Value& value) {
      const unsigned others = k.attention.mask.bits & ~unsigned{bit};
      k.attention.mask.bits = static_cast<std::uint8_t>(others | (std::get<std::uint64_t>(value) != 0 ? bit : 0U));
    };
    keys.push_back(std::move(key));
  }
  return keys;
}

}  // namespace

const Schema<NetworkKeys>& network_schema() {
  static const Schema<NetworkKeys> schema(with_others({
      with_note(make_key<K>(config::text("name", "name shown in reports"), &K::attention, &Attention::name),
                "the file's name"),
      size_key("batch", kMostHeads, "batch size", &Attention::batch),
      required(size_key("heads", kMostHeads, "attention heads", &Attention::heads)),
      required(make_key<K>(number("seq", KeyUnit::kCount, 1, kLongestSequence,
                                  "sequence length of queries, keys and values; not needed beside seq_q and seq_kv"),
                           &K::seq)),
      with_note(size_key("seq_q", kLongestSequence, "sequence length of the queries", &Attention::seq_q), "seq"),
      with_note(size_key("seq_kv", kLongestSequence, "sequence length of keys and values", &Attention::seq_kv), "seq"),
      with_note(size_key("kv_heads", kMostHeads,
                         "heads of K and V; each serves as many consecutive heads of Q (grouped-query attention)",
                         &Attention::kv_heads),
                "heads"),
      with_note(
          make_key<K>(config::text("contexts",
                                   "keys of each batch where they differ, such as 1000+777+64; in place of batch and "
                                   "seq_kv, for dataflows that decode"),
                      &K::contexts),
          "all alike"),
      make_key<K>(number("causal", KeyUnit::kCount, 0, 1, "1: a query attends to the keys up to its own"), &K::causal),
      with_note(
          make_key<K>(number("history", KeyUnit::kCount, 0, kLongestSequence,
                             "keys before the first query's own: tokens in the cache; seq_kv is then seq and these"),
                      &K::history),
          "seq_kv - seq_q"),
      with_note(make_key<K>(number("window", KeyUnit::kCount, 1, kLongestSequence,
                                   "a query attends to keys fewer than so many away from its own"),
                            &K::attention, &Attention::mask, &hal::Mask::window),
                "all"),
      make_key<K>(number("sinks", KeyUnit::kCount, 0, kLongestSequence, "first keys that stay in the window"),
                  &K::attention, &Attention::mask, &hal::Mask::sinks),
      make_key<K>(number("prefix", KeyUnit::kCount, 0, kLongestSequence, "first keys that all queries attend to"),
                  &K::attention, &Attention::mask, &hal::Mask::prefix),
      with_note(
          make_key<K>(config::text("block_mask",
                                   "file of a map of blocks: a line such as 'block 64', then a row of 0 and 1 for each "
                                   "block of new tokens, a digit a block of keys"),
                      &K::block_mask),
          "none"),
      with_note(
          make_key<K>(config::text("valid", "keys of each batch that count, the others are padding: such as 100+80"),
                      &K::valid),
          "all"),
      make_key<K>(number("alibi", KeyUnit::kCount, 0, 1,
                         "1: scores get ALiBi's bias, minus the head's slope times the distance of query and key"),
                  &K::alibi),
      make_key<K>(number("relative", KeyUnit::kCount, 0, 1,
                         "1: scores get T5's bias of the relative position, one of 32 numbers of the head"),
                  &K::relative),
      make_key<K>(number("sink", KeyUnit::kCount, 0, 1,
                         "1: each query head has a learned sink, one more term of its softmax sums without a key"),
                  &K::sink),
      with_note(
          make_key<K>(
              config::text("bias",
                           "file of a bias of the scores: .npy of FP16 or FP32, [batch, heads, seq_q, seq_kv], its "
                           "last three or two, 1 for what is the same for all; -inf hides a key"),
              &K::bias),
          "none"),
      with_note(make_key<K>(config::text("scale", "of the scores before softmax: a number, 1/8, 1/sqrt(E)"), &K::scale),
                "1"),
      make_key<K>(choice("softmax", {"softmax", "none"}, "none: the two matmuls alone, a chain"), &K::between),
      with_note(make_key<K>(config::text("softcap", "of the scaled scores x: x becomes softcap * tanh(x / softcap)"),
                            &K::soft_cap),
                "none"),
      make_key<K>(choice("type", type_names(&hal::ElementTypeInfo::is_tensor),
                         "element type of Q, K, V and P; of INT8 every head of K and V has scales of its own"),
                  &K::type),
      with_note(make_key<K>(number("scale_block", KeyUnit::kCount, 16, 32768,
                                   "tokens of a head that share a scale of INT8: of Q, of K and of V"),
                            &K::attention, &Attention::scale_block),
                "all of a head"),
      make_key<K>(
          choice("append", {"auto", "off", "on"},
                 "on: K and V of new tokens are put into the cache before attention, from where they were made; "
                 "auto: where there is a cache (history, phase=decode, page, requests)"),
          &K::append),
      make_key<K>(choice("out", type_names(&hal::ElementTypeInfo::is_rounded_to, {"auto"}),
                         "element type of O; auto: bf16 where the others are, or fp16"),
                  &K::out),
      make_key<K>(choice("phase", {"prefill", "decode"}, "decode: one new token behind those in the cache"), &K::phase),
      with_note(
          make_key<K>(number("page", KeyUnit::kCount, 16, 256, "tokens in a page of the cache of keys and values"),
                      &K::attention, &Attention::page),
          "no pages"),
      with_note(make_key<K>(number("pages", KeyUnit::kCount, 1, hal::kMostPages, "pages that the cache has"),
                            &K::attention, &Attention::cache_pages),
                "as many as are needed"),
      required(size_key("emb", kWidestEmbedding, "embedding per head", &Attention::emb)),
      with_note(size_key("value_emb", kWidestEmbedding, "embedding per head of V and O", &Attention::value_emb), "emb"),
  }));
  return schema;
}

namespace {
using NamePairs = std::vector<std::pair<std::string, std::string>>;
// Keys of the model and patterns have no shorter names.
NamePairs with_same_names(NamePairs names) {
  for (const Key<K>& key : model_keys()) names.emplace_back(key.path, key.path);
  for (const hal::MaskKindInfo& kind : hal::kMaskKinds) {
    if (kind.hides != nullptr) names.emplace_back(kind.name, kind.name);
  }
  return names;
}
}  // namespace

const std::vector<std::pair<std::string, std::string>>& inline_names() {
  static const auto names = with_same_names({{"B", "batch"},
                                             {"H", "heads"},
                                             {"N", "seq"},
                                             {"NQ", "seq_q"},
                                             {"NKV", "seq_kv"},
                                             {"E", "emb"},
                                             {"HKV", "kv_heads"},
                                             {"L", "contexts"},
                                             {"causal", "causal"},
                                             {"history", "history"},
                                             {"window", "window"},
                                             {"sinks", "sinks"},
                                             {"prefix", "prefix"},
                                             {"scale", "scale"},
                                             {"softcap", "softcap"},
                                             {"type", "type"},
                                             {"out", "out"},
                                             {"EV", "value_emb"},
                                             {"softmax", "softmax"},
                                             {"phase", "phase"},
                                             {"batch", "batch"},
                                             {"cache", "history"},
                                             {"page", "page"},
                                             {"pages", "pages"},
                                             {"block_mask", "block_mask"},
                                             {"valid", "valid"},
                                             {"alibi", "alibi"},
                                             {"relative", "relative"},
                                             {"sink", "sink"},
                                             {"bias", "bias"},
                                             {"scale_block", "scale_block"},
                                             {"append", "append"}});
  return names;
}

}  // namespace attnvp::workload
