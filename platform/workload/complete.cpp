// Completes attention from its keys: derives values that are not given and refuses inconsistent ones.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "firmware/hal/job.h"
#include "platform/machine/words.h"
#include "platform/workload/keys.h"
#include "platform/workload/layers.h"

namespace attnvp::workload {

using namespace config;
namespace {

using K = NetworkKeys;

constexpr double kMostMacs = 1ULL << 60;  // keeps 64-bit counts, also of bytes, from overflowing

// "1000+777+64": a length for each batch. `refuse` receives the allowed values if the text is not valid.
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

void parse_contexts(Attention& network, const K& keys, const Origin& origin, const std::string& name) {
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
void parse_scale(Attention& network, const K& keys, const Origin& origin, const std::string& name) {
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

void complete_types(Attention& n, const K& keys) {
  n.type = named_type(keys.type);
  n.out = keys.out != "auto" ? named_type(keys.out) : type_of_output(n.type);
}

void parse_soft_cap(Attention& n, const K& keys, const Origin& origin, const std::string& name) {
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

void parse_valid(Attention& n, const K& keys, const Origin& origin, const std::string& name) {
  if (keys.valid.empty()) return;
  const auto refuse = [&](const std::string& why) {
    fail(origin, fmt::format("key '{}': found {}; {}", name, in_quotes(keys.valid), why));
  };
  n.valid = lengths_of(keys.valid, n.seq_kv, refuse);
  if (n.valid.size() != n.batch) refuse(fmt::format("allowed is one length for each of {} batches", n.batch));
  n.mask.bits |= hal::bit_of(hal::MaskKind::kPadded);
}

// Bias, blocks that share a scale, and appending to the cache. `mask` is complete.
void complete_serving(Attention& n, const K& keys, const Origin& origin, const NameOf& name_of) {
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
  n.sink = keys.sink != 0;
  if (n.sink) {
    const auto alone = [&](bool is_other, const char* other) {
      if (is_other) refuse("sink", fmt::format("found 1; with '{}' allowed is 0", name_of(other)));
    };
    alone(!n.softmax, "softmax");
    alone(n.bias != Bias::kNone, n.bias == Bias::kTensor ? "bias" : bias);
    alone(n.mask.block != 0, "block_mask");
    const std::uint32_t group = n.heads / n.heads_of_kv();
    if (group > hal::kMostSlopes) {
      refuse("sink", fmt::format("found 1; allowed are at most {} heads of Q for each of K and V", hal::kMostSlopes));
    }
    if (n.heads > hal::kMostBiasBytes / 4) {
      refuse("sink", fmt::format("found 1 with {} heads, whose sinks have no room in the mailbox", n.heads));
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
    if (const std::uint64_t all = n.block_scales(); all > hal::kMostBlockScales) {
      refuse("scale_block", fmt::format("found {}, which is {} scales; the mailbox has room for {}", n.scale_block, all,
                                        hal::kMostBlockScales));
    }
  }
  const bool cache = keys.history != K::kNoHistory || keys.phase == Phase::kDecode || n.page > 0;
  n.append = keys.append == AppendKind::kOn || (keys.append == AppendKind::kAuto && cache && n.softmax);
  n.appends_requests = keys.append != AppendKind::kOff;
  if (keys.append == AppendKind::kOn && n.ragged()) {
    refuse("append", fmt::format("with '{}' allowed is off", name_of("contexts")));
  }
  if (n.ragged() || n.batch > kMostContexts || n.mask.history + std::uint64_t{n.seq_q} > n.seq_kv) n.append = false;
}

// Checks the mask's lengths against the layer's. If seq_kv is not given, it grows by the history.
void complete_mask(Attention& n, const K& keys, const Origin& origin, const NameOf& name_of) {
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

// Lengths of requests override those of the layer.
void use_lengths(K& keys, const Lengths& lengths, const Origin& origin, const NameOf& name_of) {
  for (const auto& [key, value] : {std::pair{"contexts", &keys.contexts},
                                   {"block_mask", &keys.block_mask},
                                   {"valid", &keys.valid},
                                   {"bias", &keys.bias}}) {
    if (value->empty()) continue;
    fail(origin, fmt::format("key '{}': found {}; requests have lengths of their own, a layer with them takes none",
                             name_of(key), in_quotes(*value)));
  }
  keys.attention.batch = lengths.batch;
  keys.attention.seq_q = lengths.seq_q;
  keys.attention.seq_kv = lengths.seq_kv;
  keys.history = K::kNoHistory;
  keys.phase = Phase::kPrefill;
}

// Attention of the selected block. `layers` is then the number of layers with the same attention.
void select_block(Workload& w) {
  const std::vector<Block> blocks = w.model.all_blocks();
  const Block& block = blocks[w.model.block];
  w.model.layers = 0;
  for (const Block& b : blocks) {
    if (b.has_window == block.has_window && b.is_encoder == block.is_encoder) w.model.layers += b.count;
  }
  w.attention() = attention_of(w, block);
}

}  // namespace

Workload complete(K keys, const Origin& origin, const NameOf& name_of, const Lengths* lengths) {
  if (lengths != nullptr) use_lengths(keys, *lengths, origin, name_of);
  if (keys.phase == Phase::kDecode) {  // one token behind the cached ones, or behind seq - 1 tokens
    if (keys.history == K::kNoHistory && keys.attention.seq_kv == 0 && keys.seq > 0) keys.history = keys.seq - 1;
    if (keys.attention.seq_q == 0) keys.attention.seq_q = 1;
    keys.seq = 1;
  }
  Attention network = keys.attention;
  if (network.seq_q == 0) network.seq_q = keys.seq;
  if (network.seq_kv == 0 && keys.seq > 0) {  // including the history
    const std::uint32_t history = keys.history == K::kNoHistory ? 0 : keys.history;
    network.seq_kv = (keys.attention.seq_q > 0 ? std::max(keys.seq, network.seq_q) : keys.seq) + history;
    if (keys.attention.seq_q > 0 && history > 0) network.seq_kv = network.seq_q + history;
    if (network.seq_kv > kLongestSequence) {
      fail(origin, fmt::format("key '{}': found {}; with the new tokens that is {} keys, allowed are {:.0f}",
                               name_of("history"), history, network.seq_kv, kLongestSequence));
    }
  }
  if (network.seq_kv == 0 && !keys.contexts.empty()) network.seq_kv = 1;  // parse_contexts reports a better error
  const auto missing = [&](const std::string& path, const std::string& or_both) {
    const KeyInfo& key = *network_schema().find(path);
    fail(origin, fmt::format("key '{}'{} is missing; allowed is {}", name_of(path), or_both, allowed_range(key)));
  };
  if (const Latent& l = keys.model.latent; l.kv_rank > 0) {  // absorbed: all heads share the row
    network.kv_heads = 1;
    network.emb = l.kv_rank + l.rotary;
    network.value_emb = l.kv_rank;
  }
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
  Workload workload(std::move(network));
  workload.model = keys.model;
  complete_model(workload.model, keys, origin, name_of);
  if (Model& m = workload.model; m.has_cross()) {
    if (!keys.contexts.empty()) {
      fail(origin, fmt::format("key '{}': with 'cross' layers allowed are equal lengths", name_of("contexts")));
    }
    if (m.encoder == 0) m.encoder = workload.attention().seq_kv;
  }
  workload.scope = keys.scope;
  if (keys.scope == Scope::kAttention) select_block(workload);
  return workload;
}

}  // namespace attnvp::workload
