#include "platform/config/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "firmware/hal/job.h"
#include "platform/config/catalog.h"
#include "platform/config/csv.h"
#include "platform/config/hugging_face.h"
#include "platform/config/network_text.h"
#include "platform/config/provenance.h"
#include "platform/config/step.h"
#include "platform/config/words.h"
#include "platform/text/printable.h"

namespace attnvp::config {
namespace {

using K = NetworkKeys;

constexpr std::array<std::string_view, 2> kFileKeys = {"block_mask", "bias"};  // that name a file
constexpr double kMostMacs = 1ULL << 60;  // keeps every 64-bit count, of bytes too, from overflowing

// "1000+777+64": a length for each batch. `refuse` takes what is allowed instead.
template <typename Refuse>
std::vector<std::uint32_t> lengths_of(std::string_view all, double most, const Refuse& refuse) {
  std::vector<std::uint32_t> lengths;
  for (std::size_t start = 0; start <= all.size();) {
    const std::size_t end = std::min(all.find('+', start), all.size());
    const std::string_view part = trimmed(all.substr(start, end - start));
    start = end + 1;
    std::uint32_t length = 0;
    const auto [rest, error] = std::from_chars(part.data(), part.data() + part.size(), length);
    if (error != std::errc{} || rest != part.data() + part.size() || length < 1 || length > most) {
      refuse(fmt::format("allowed are lengths of 1 to {:.0f} with '+' between them", most));
    }
    lengths.push_back(length);
  }
  return lengths;
}

// Keys of each batch.
void parse_contexts(Network& network, const K& keys, const Origin& origin, const std::string& name) {
  if (keys.contexts.empty()) return;
  const auto refuse = [&](const std::string& why) {
    fail(origin, fmt::format("key '{}': found {}; {}", name, in_quotes(keys.contexts), why));
  };
  network.contexts = lengths_of(keys.contexts, kLongestSequence, refuse);
  if (network.contexts.size() > kMostContexts) refuse(fmt::format("allowed are at most {} batches", kMostContexts));
  if (network.batch != 1 && network.batch != network.contexts.size()) {
    refuse(fmt::format("that is {} batches, but batch is {}", network.contexts.size(), network.batch));
  }
  network.batch = static_cast<std::uint32_t>(network.contexts.size());
  network.seq_kv = *std::max_element(network.contexts.begin(), network.contexts.end());
}

// "0.125", "1/8" or "1/sqrt(E)".
void parse_scale(Network& network, const K& keys, const Origin& origin, const std::string& name) {
  if (keys.scale.empty()) return;
  const std::string_view text = trimmed(keys.scale);
  const auto number = [](std::string_view part, double& value) {
    const auto [rest, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    return error == std::errc{} && rest == part.data() + part.size();
  };
  double value = 0, over = 1;
  const std::size_t slash = text.find('/');
  bool good = false;
  if (slash != std::string_view::npos &&
      (text.substr(slash + 1) == "sqrt(E)" || text.substr(slash + 1) == "sqrt(emb)")) {
    good = number(text.substr(0, slash), value);
    over = std::sqrt(static_cast<double>(network.emb));
  } else if (slash != std::string_view::npos) {
    good = number(text.substr(0, slash), value) && number(text.substr(slash + 1), over) && over > 0;
  } else {
    good = number(text, value);
  }
  const auto scale = static_cast<float>(value / over);
  if (!good || !(scale >= 0x1p-24F && scale <= 0x1p10F)) {
    fail(origin, fmt::format("key '{}': found {}; allowed is a number of 2^-24 to 1024, a quotient such as 1/8, or "
                             "1/sqrt(E)",
                             name, in_quotes(keys.scale)));
  }
  network.scale = scale;
}

hal::ElementType named_type(const std::string& name) {
  const auto* const info = std::find_if(std::begin(hal::kElementTypes), std::end(hal::kElementTypes),
                                        [&](const hal::ElementTypeInfo& each) { return each.name == name; });
  return info->type;
}

// The types' names; what has none is FP16.
void complete_types(Network& n, const K& keys) {
  n.type = named_type(keys.type);
  n.out = keys.out != "auto" ? named_type(keys.out) : type_of_output(n.type);
}

// What the layer around attention is made of.
void complete_layer(Network& n, const K& keys) {
  n.gated = keys.gated == 1;
  n.rotary = keys.rotary == 1;
  n.qk_norm = keys.qk_norm == 1;
  n.linear = keys.linear == 1;
  n.norm = n.gated ? Norm::kRmsNorm : Norm::kLayerNorm;
  if (keys.norm != NormKind::kAuto) n.norm = static_cast<Norm>(static_cast<int>(keys.norm) - 1);
  n.activation = n.gated ? hal::Activation::kSilu : hal::Activation::kGelu;
  if (keys.activation != ActivationKind::kAuto) {
    n.activation = static_cast<hal::Activation>(static_cast<int>(keys.activation) - 1);
  }
}

// "50", the names' own or none.
void parse_soft_cap(Network& n, const K& keys, const Origin& origin, const std::string& name) {
  if (keys.soft_cap.empty()) return;
  const std::string_view text = trimmed(keys.soft_cap);
  double value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || rest != text.data() + text.size() || !(value >= 0x1p-10 && value <= 32768)) {
    fail(origin,
         fmt::format("key '{}': found {}; allowed is a number of 2^-10 to 32768", name, in_quotes(keys.soft_cap)));
  }
  n.soft_cap = static_cast<float>(value);
}

// Keys of each batch that count.
void parse_valid(Network& n, const K& keys, const Origin& origin, const std::string& name) {
  if (keys.valid.empty()) return;
  const auto refuse = [&](const std::string& why) {
    fail(origin, fmt::format("key '{}': found {}; {}", name, in_quotes(keys.valid), why));
  };
  n.valid = lengths_of(keys.valid, n.seq_kv, refuse);
  if (n.valid.size() != n.batch) refuse(fmt::format("allowed is one length for each of {} batches", n.batch));
  n.mask.bits |= hal::bit_of(hal::MaskKind::kPadded);
}

// A bias, blocks that share a scale, and whether new tokens are put into a cache. `mask` is complete.
template <class NameOf>
void complete_serving(Network& n, const K& keys, const Origin& origin, NameOf name_of) {
  const auto refuse = [&](const char* key, const std::string& why) {
    fail(origin, fmt::format("key '{}': {}", name_of(key), why));
  };
  n.bias = keys.alibi != 0 ? Bias::kAlibi : keys.relative != 0 ? Bias::kRelative : Bias::kNone;
  const char* const bias = n.bias == Bias::kAlibi ? "alibi" : "relative";
  if (keys.alibi != 0 && keys.relative != 0)
    refuse("relative", fmt::format("found 1; with '{}' allowed is 0", name_of("alibi")));
  if (!keys.bias.empty()) {
    if (n.bias != Bias::kNone) refuse("bias", fmt::format("allowed is one bias, and '{}' is 1", name_of(bias)));
    if (n.ragged()) refuse("bias", fmt::format("with '{}' there is none from a file", name_of("contexts")));
    if (!n.softmax) refuse("softmax", fmt::format("found 'none'; with '{}' allowed is 'softmax'", name_of("bias")));
    read_bias(n, keys.bias);
  } else if (n.bias != Bias::kNone) {
    if (n.mask.block != 0) refuse(bias, fmt::format("found 1; with '{}' allowed is 0", name_of("block_mask")));
    const std::uint32_t group = n.heads / n.heads_of_kv();
    if (n.bias == Bias::kRelative && group > 1) refuse(bias, "found 1; it needs as many heads of K and V as of Q");
    if (group > hal::kMostSlopes) {
      refuse(bias, fmt::format("found 1; allowed are at most {} heads of Q for each of K and V", hal::kMostSlopes));
    }
    if (n.heads > hal::kMostBiasBytes / (n.bias == Bias::kAlibi ? 4 : 2 * hal::kBuckets)) {
      refuse(bias, fmt::format("found 1 with {} heads, whose biases have no room in the mailbox", n.heads));
    }
  }
  if (n.scale_block != 0) {
    if ((n.scale_block & (n.scale_block - 1)) != 0) {
      refuse("scale_block", fmt::format("found {}; allowed is a power of two", n.scale_block));
    }
    if (n.type != hal::ElementType::kInt8) refuse("scale_block", "only INT8 has scales: allowed is type=int8");
    if (n.bias == Bias::kAlibi || n.bias == Bias::kRelative || n.mask.block != 0) {
      refuse("scale_block", "with a formula's bias or a block mask allowed are scales of whole heads");
    }
    const auto blocks = [&](std::uint64_t tokens) { return (tokens + n.scale_block - 1) / n.scale_block; };
    const std::uint64_t group = n.heads / n.heads_of_kv();
    const std::uint64_t all = n.batch * n.heads_of_kv() * (blocks(group * n.seq_q) + 2 * blocks(n.seq_kv));
    if (all > hal::kMostBlockScales) {
      refuse("scale_block", fmt::format("found {}, which is {} scales; the mailbox has room for {}", n.scale_block, all,
                                        hal::kMostBlockScales));
    }
  }
  const bool cache = keys.history != K::kNoHistory || keys.phase == Phase::kDecode || n.page > 0;
  n.append = keys.append == Append::kOn || (keys.append == Append::kAuto && cache && n.softmax);
  n.appends_requests = keys.append != Append::kOff;
  if (keys.append == Append::kOn && n.ragged()) {
    refuse("append", fmt::format("with '{}' allowed is off", name_of("contexts")));
  }
  if (n.ragged() || n.batch > kMostContexts || n.mask.history + std::uint64_t{n.seq_q} > n.seq_kv) n.append = false;
}

// A mask's lengths against the layer's. `seq_kv_given`: otherwise it makes room for the history.
template <class NameOf>
void complete_mask(Network& n, const K& keys, const Origin& origin, NameOf name_of) {
  hal::Mask& m = n.mask;
  m.causal = static_cast<std::uint8_t>(keys.causal);
  const auto refuse = [&](const char* key, std::uint32_t found, const std::string& allowed) {
    fail(origin, fmt::format("key '{}': found {}; {}", name_of(key), found, allowed));
  };
  const bool placed = m.any() || !keys.block_mask.empty() || keys.alibi != 0 || keys.relative != 0;
  if (!m.any()) {
    for (const auto& [key, value] : {std::pair{"sinks", m.sinks}, {"prefix", m.prefix}}) {
      if (value > 0) refuse(key, value, fmt::format("it needs '{}' or '{}'", name_of("causal"), name_of("window")));
    }
    if (keys.history != K::kNoHistory && std::uint64_t{keys.history} + n.seq_q > n.seq_kv) {
      refuse("history", keys.history,
             fmt::format("allowed is at most {}, with {} new tokens and {} keys",
                         n.seq_kv - std::min(n.seq_kv, n.seq_q), n.seq_q, n.seq_kv));
    }
    m.history = keys.history == K::kNoHistory ? n.seq_kv - std::min(n.seq_kv, n.seq_q) : keys.history;
    m.queries = n.seq_q;
    if (!placed) return;
  }
  if (n.ragged() && (m.any() || !keys.block_mask.empty())) {
    fail(origin, fmt::format("key '{}': batches of different lengths take no mask", name_of("contexts")));
  }
  const std::uint32_t least = n.ragged() ? *std::min_element(n.contexts.begin(), n.contexts.end()) : n.seq_kv;
  if (n.seq_q > least && n.ragged()) {
    refuse("seq_q", n.seq_q,
           fmt::format("with a bias by place allowed is at most the fewest keys of a batch, {}", least));
  }
  const std::uint32_t most = n.seq_kv - std::min(n.seq_kv, n.seq_q);
  if (n.seq_q > n.seq_kv) {
    refuse("seq_q", n.seq_q,
           fmt::format("under a mask every query has a key: allowed is at most '{}', {}", name_of("seq_kv"), n.seq_kv));
  }
  m.history = keys.history == K::kNoHistory ? most : keys.history;
  if (m.history > most) {
    refuse("history", m.history,
           fmt::format("allowed is at most {}, as {} new tokens come behind it and there are {} keys", most, n.seq_q,
                       n.seq_kv));
  }
  for (const auto& [key, value] : {std::pair{"sinks", m.sinks}, {"prefix", m.prefix}}) {
    if (value > n.seq_kv) refuse(key, value, fmt::format("allowed is at most '{}', {}", name_of("seq_kv"), n.seq_kv));
  }
  m.queries = n.seq_q;
  if (!keys.block_mask.empty()) read_block_mask(n, keys.block_mask);
  if (m.is_padded()) check_visible(n, fmt::format("key '{}'", name_of("valid")));
  if (m.has_patterns()) check_visible(n, "mask");
}

// Those of requests, in place of the layer's own.
template <class NameOf>
void use_lengths(K& keys, const Lengths& lengths, const Origin& origin, NameOf name_of) {
  for (const auto& [key, value] : {std::pair{"contexts", &keys.contexts},
                                   {"block_mask", &keys.block_mask},
                                   {"valid", &keys.valid},
                                   {"bias", &keys.bias}}) {
    if (value->empty()) continue;
    fail(origin, fmt::format("key '{}': found {}; requests have lengths of their own, a layer with them takes none",
                             name_of(key), in_quotes(*value)));
  }
  keys.network.batch = lengths.batch;
  keys.network.seq_q = lengths.seq_q;
  keys.network.seq_kv = lengths.seq_kv;
  keys.history = K::kNoHistory;
  keys.phase = Phase::kPrefill;
}

// Fills the lengths from `seq` and refuses what is missing. `lengths`: those that stand in their place, or nullptr.
// `name_of` gives the name a key has in this notation.
template <class NameOf>
Network complete(K keys, const Origin& origin, NameOf name_of, const Lengths* lengths) {
  if (lengths != nullptr) use_lengths(keys, *lengths, origin, name_of);
  if (keys.phase == Phase::kDecode) {  // one token behind those in the cache, or behind seq - 1 of them
    if (keys.history == K::kNoHistory && keys.network.seq_kv == 0 && keys.seq > 0) keys.history = keys.seq - 1;
    if (keys.network.seq_q == 0) keys.network.seq_q = 1;
    keys.seq = 1;
  }
  Network network = keys.network;
  if (network.seq_q == 0) network.seq_q = keys.seq;
  if (network.seq_kv == 0 && keys.seq > 0) {  // of the tokens before them, too
    const std::uint32_t history = keys.history == K::kNoHistory ? 0 : keys.history;
    network.seq_kv = (keys.network.seq_q > 0 ? std::max(keys.seq, network.seq_q) : keys.seq) + history;
    if (keys.network.seq_q > 0 && history > 0) network.seq_kv = network.seq_q + history;
    if (network.seq_kv > kLongestSequence) {
      fail(origin, fmt::format("key '{}': found {}; with the new tokens that is {} keys, allowed are {:.0f}",
                               name_of("history"), history, network.seq_kv, kLongestSequence));
    }
  }
  if (network.seq_kv == 0 && !keys.contexts.empty()) network.seq_kv = 1;  // parse_contexts says better
  const auto missing = [&](const std::string& path, const std::string& or_both) {
    const KeyInfo& key = *network_schema().find(path);
    fail(origin, fmt::format("key '{}'{} is missing; allowed is {}", name_of(path), or_both, allowed_range(key)));
  };
  if (network.heads == 0) missing("heads", "");
  if (network.seq_q == 0 || network.seq_kv == 0) {
    missing("seq", fmt::format(" (or both '{}' and '{}')", name_of("seq_q"), name_of("seq_kv")));
  }
  if (network.emb == 0) missing("emb", "");
  parse_contexts(network, keys, origin, name_of("contexts"));
  if (network.heads % network.heads_of_kv() != 0) {
    fail(origin, fmt::format("key '{}': found {}; allowed is a divisor of '{}', {}", name_of("kv_heads"),
                             network.kv_heads, name_of("heads"), network.heads));
  }
  const std::uint32_t group = network.heads / network.heads_of_kv();
  if (std::uint64_t{network.seq_q} * group > 4'000'000'000) {
    fail(origin, fmt::format("key '{}': a group of heads has more than 4e9 queries", name_of("kv_heads")));
  }
  parse_scale(network, keys, origin, name_of("scale"));
  network.softmax = keys.between == Between::kSoftmax;
  complete_layer(network, keys);
  complete_types(network, keys);
  parse_soft_cap(network, keys, origin, name_of("softcap"));
  if (network.value_emb == network.emb) network.value_emb = 0;
  if (!network.softmax && (network.typed() || network.soft_cap > 0)) {
    fail(origin,
         fmt::format("key '{}': found 'none'; with a type or a soft-cap allowed is 'softmax'", name_of("softmax")));
  }
  parse_valid(network, keys, origin, name_of("valid"));
  complete_mask(network, keys, origin, name_of);
  complete_serving(network, keys, origin, name_of);
  if (!network.softmax && network.mask.any()) {
    fail(origin, fmt::format("key '{}': found 'none'; with a mask allowed is 'softmax'", name_of("softmax")));
  }
  const double macs = static_cast<double>(network.batch) * network.heads * network.seq_q * network.seq_kv * network.emb;
  if (macs > kMostMacs) {
    fail(origin, fmt::format("the shape needs {:.3g} multiply-accumulates per matrix product; allowed are {:.3g}", macs,
                             kMostMacs));
  }
  return network;
}

// "B=2,cache=4096": short names, or whole ones.
void apply_words(K& keys, std::string_view all, const Origin& origin) {
  std::vector<std::string> names;
  for (const auto& [name, path] : inline_names()) names.push_back(name);
  std::vector<std::string> seen;
  for (std::size_t start = 0; start <= all.size();) {
    const std::size_t comma = std::min(all.find(',', start), all.size());
    const std::string part(trimmed(all.substr(start, comma - start)));
    start = comma + 1;
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos) {
      fail(origin, fmt::format("found {} without '='; allowed is a shape such as H=12,N=512,E=64", in_quotes(part)));
    }
    const std::string name(trimmed(std::string_view(part).substr(0, equals)));
    const auto known = std::find_if(inline_names().begin(), inline_names().end(),
                                    [&](const auto& entry) { return entry.first == name; });
    if (known == inline_names().end()) {
      fail(origin, fmt::format("key {} is unknown; allowed: {}", in_quotes(name), fmt::join(names, ", ")));
    }
    if (std::find(seen.begin(), seen.end(), known->second) != seen.end()) {
      fail(origin, fmt::format("key '{}' is given twice", name));
    }
    seen.push_back(known->second);
    const Key<K>& key = *network_schema().find(known->second);
    try {
      key.set(keys, parse_value(key, trimmed(std::string_view(part).substr(equals + 1))));
    } catch (const ConfigError& problem) {
      fail(origin, fmt::format("key '{}': {}", name, problem.what()));
    }
  }
}

std::string inline_name(const std::string& path) {
  for (const auto& [name, stands_for] : inline_names()) {
    if (stands_for == path) return name;
  }
  return path;
}

Network parse_inline(const std::string& text, const Lengths* lengths) {
  const Origin origin = option_origin("--net", text);
  K keys;
  apply_words(keys, text, origin);
  keys.network.name = text::printable(text);
  return complete(keys, origin, inline_name, lengths);
}

// Of "H=12,scale=1/sqrt(E)", whose first word is a name, and "a=b/net.yaml".
bool is_inline(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return false;
  const std::string_view first = trimmed(std::string_view(text).substr(0, equals));
  if (first.find(',') != std::string_view::npos) return false;  // a name, and keys behind it
  const auto named = [&](const auto& entry) { return entry.first == first; };
  return !is_path(text) || std::any_of(inline_names().begin(), inline_names().end(), named);
}

constexpr std::string_view kLayerType = "layer_type";

// Keys behind a name: "llama3.1-8b,phase=decode". The comma that they begin behind; npos: there are none.
std::size_t words_begin(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::size_t comma = equals == std::string::npos ? equals : text.rfind(',', equals);
  if (comma == std::string::npos) return comma;
  const std::string_view name = trimmed(std::string_view(text).substr(comma + 1, equals - comma - 1));
  const bool known = name == kLayerType || std::any_of(inline_names().begin(), inline_names().end(),
                                                       [&](const auto& entry) { return entry.first == name; });
  return known || !is_path(text) ? comma : std::string::npos;
}

// A model file that cannot be had as a layer, or as a whole model.
void refuse_scope_of(const ModelFile& model, Scope scope) {
  if (scope != Scope::kAttention && !model.no_layer.empty()) {
    throw ConfigError(
        fmt::format("{}: scope=layer|model: {}; allowed is scope=attention", model.source, model.no_layer));
  }
  if (scope == Scope::kModel && !model.no_model.empty()) {
    throw ConfigError(
        fmt::format("{}: scope=model: {}; allowed are scope=attention and scope=layer", model.source, model.no_model));
  }
}

// Takes "layer_type=full_attention" out of the keys behind a model file.
std::string take_layer_type(std::string& words, const Origin& origin) {
  std::string kept, type;
  for (std::size_t start = 0; start <= words.size() && !words.empty();) {
    const std::size_t comma = std::min(words.find(',', start), words.size());
    const std::string_view word = std::string_view(words).substr(start, comma - start);
    start = comma + 1;
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos || trimmed(word.substr(0, equals)) != kLayerType) {
      kept += (kept.empty() ? "" : ",") + std::string(word);
      continue;
    }
    if (!type.empty()) fail(origin, fmt::format("key '{}' is given twice", kLayerType));
    type = trimmed(word.substr(equals + 1));
    if (type.empty()) fail(origin, fmt::format("key '{}' has no value", kLayerType));
  }
  words = kept;
  return type;
}

}  // namespace

NetworkText split_network(const std::string& text) {
  if (is_inline(text)) return {true, {}, {}, text};
  const std::size_t comma = words_begin(text);
  NetworkText parts{
      false, text.substr(0, comma), {}, comma == std::string::npos ? std::string() : text.substr(comma + 1)};
  if (parts.hugging_face()) parts.layer_type = take_layer_type(parts.words, option_origin("--net", text));
  return parts;
}

std::vector<std::string> keys_of_words(const std::string& words) {
  std::vector<std::string> keys;
  for (const auto& [name, path] : inline_names()) {
    for (std::size_t start = 0; start < words.size(); start = words.find(',', start) + 1) {
      const std::string_view word = std::string_view(words).substr(start, words.find(',', start) - start);
      if (trimmed(word.substr(0, word.find('='))) == name) keys.push_back(path);
      if (words.find(',', start) == std::string::npos) break;
    }
  }
  return keys;
}

bool is_network_text(const std::string& text) {
  const NetworkText parts = split_network(text);
  return parts.inline_shape || parts.hugging_face() || !parts.words.empty() || parse_step(text).has_value();
}

namespace {

Network load(const std::string& text, const Lengths* lengths) {
  if (const std::optional<Network> step = parse_step(text)) return *step;
  const NetworkText parts = split_network(text);
  if (parts.inline_shape) return parse_inline(text, lengths);
  K keys;
  Origin origin;
  ModelFile model;
  if (parts.hugging_face()) {
    const std::string path = parts.base.substr(kHuggingFace.size());
    model = read_hugging_face(path, parts.layer_type);
    for (const Setting& setting : model.settings) network_schema().apply(keys, setting);
    origin = {model.source};
    const std::filesystem::path named = std::filesystem::path(path).lexically_normal();
    const bool file = named.extension() == ".json";
    keys.network.name = text::printable((file ? named.parent_path() : named).filename().string());
    if (keys.network.name.empty()) keys.network.name = "config";
  } else {
    const std::string path = find_config(Folder::kNetworks, parts.base);
    const Document document = Document::load(path);
    keys.network.name = text::printable(std::filesystem::path(path).stem().string());
    std::vector<std::string> known = network_schema().paths();
    known.emplace_back(kProvenanceSection);
    for (const Setting& setting : document.settings(known)) network_schema().apply(keys, setting);
    for (std::string* const named : {&keys.block_mask, &keys.bias}) {  // kFileKeys, beside the file that names it
      if (!named->empty()) *named = (std::filesystem::path(path).parent_path() / *named).string();
    }
    read_provenance(document, network_schema().paths());  // refuses what is wrong with it
    origin = {document.source()};
  }
  keys.network.name += text::printable(text.substr(parts.base.size()));
  if (parts.words.empty()) {
    return complete(
        keys, origin, [](const std::string& name) { return name; }, lengths);
  }
  apply_words(keys, parts.words, option_origin("--net", text));
  refuse_scope_of(model, keys.network.scope);
  return complete(keys, option_origin("--net", text), inline_name, lengths);
}

}  // namespace

Network load_network(const std::string& text) { return load(text, nullptr); }

Network load_network(const std::string& text, const Lengths& lengths) { return load(text, &lengths); }

std::string with_absolute_paths(const std::string& text, const std::string& folder) {
  namespace fs = std::filesystem;
  const auto absolute = [&](const std::string& path) {
    std::error_code error;
    return fs::weakly_canonical(fs::absolute(fs::path(folder) / trimmed(path)), error).string();
  };
  std::size_t at = is_inline(text) ? 0 : std::min(words_begin(text), text.size());  // the words
  std::string all = text.substr(0, at);
  if (all.compare(0, kHuggingFace.size(), kHuggingFace) == 0) {
    all = std::string(kHuggingFace) + absolute(all.substr(kHuggingFace.size()));
  } else if (is_path(all)) {
    all = absolute(all);
  }
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(',', at + 1), text.size());
    const std::size_t equals = std::min(text.find('=', at), end);
    const std::size_t name = text[at] == ',' ? at + 1 : at;
    const std::string_view key = trimmed(std::string_view(text).substr(name, equals - name));
    const bool file = std::find(kFileKeys.begin(), kFileKeys.end(), key) != kFileKeys.end() && equals < end;
    all += file ? text.substr(at, equals + 1 - at) + absolute(text.substr(equals + 1, end - equals - 1))
                : text.substr(at, end - at);
    at = end;
  }
  return all;
}

}  // namespace attnvp::config
