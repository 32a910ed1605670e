#include "platform/config/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "platform/config/catalog.h"
#include "platform/config/provenance.h"
#include "platform/config/words.h"
#include "platform/text/printable.h"

namespace attnvp::config {
namespace {

using K = NetworkKeys;

constexpr double kMostHeads = 65536;
constexpr double kLongestSequence = 4194304;
constexpr std::size_t kMostContexts = 1024;
constexpr double kWidestEmbedding = 4096;
constexpr double kMostMacs = 1ULL << 60;  // keeps every 64-bit count, of bytes too, from overflowing

Key<K> size_key(const std::string& path, double maximum, const std::string& meaning, std::uint32_t Network::*field) {
  return make_key<K>(number(path, Unit::kCount, 1, maximum, meaning), &K::network, field);
}

Key<K> required(Key<K> key) {
  key.required = true;
  return key;
}

Key<K> with_note(Key<K> key, std::string note) {
  key.default_note = std::move(note);
  return key;
}

// "1000+777+64": keys of each batch.
void parse_contexts(Network& network, const K& keys, const Origin& origin, const std::string& name) {
  if (keys.contexts.empty()) return;
  const auto refuse = [&](const std::string& why) {
    fail(origin, fmt::format("key '{}': found {}; {}", name, in_quotes(keys.contexts), why));
  };
  const std::string_view all = keys.contexts;
  for (std::size_t start = 0; start <= all.size();) {
    const std::size_t end = std::min(all.find('+', start), all.size());
    const std::string_view part = trimmed(all.substr(start, end - start));
    start = end + 1;
    std::uint32_t length = 0;
    const auto [rest, error] = std::from_chars(part.data(), part.data() + part.size(), length);
    if (error != std::errc{} || rest != part.data() + part.size() || length < 1 || length > kLongestSequence) {
      refuse(fmt::format("allowed are lengths of 1 to {:.0f} with '+' between them", kLongestSequence));
    }
    network.contexts.push_back(length);
  }
  if (network.contexts.size() > kMostContexts) refuse(fmt::format("allowed are at most {} batches", kMostContexts));
  if (network.batch != 1 && network.batch != network.contexts.size()) {
    refuse(fmt::format("that is {} batches, but batch is {}", network.contexts.size(), network.batch));
  }
  network.batch = static_cast<std::uint32_t>(network.contexts.size());
  network.seq_kv = *std::max_element(network.contexts.begin(), network.contexts.end());
}

// Fills the lengths from `seq` and refuses what is missing. `name_of` gives the name a key has in this
// notation.
template <class NameOf>
Network complete(const K& keys, const Origin& origin, NameOf name_of) {
  Network network = keys.network;
  if (network.seq_q == 0) network.seq_q = keys.seq;
  if (network.seq_kv == 0) network.seq_kv = keys.seq;
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
  const double macs = static_cast<double>(network.batch) * network.heads * network.seq_q * network.seq_kv * network.emb;
  if (macs > kMostMacs) {
    fail(origin, fmt::format("the shape needs {:.3g} multiply-accumulates per matrix product; allowed are {:.3g}", macs,
                             kMostMacs));
  }
  return network;
}

Network parse_inline(const std::string& text) {
  const Origin origin = option_origin("--net", text);
  std::vector<std::string> names;
  for (const auto& [name, path] : inline_names()) names.push_back(name);
  K keys;
  std::vector<std::string> seen;
  const std::string_view all = text;
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
    if (std::find(seen.begin(), seen.end(), name) != seen.end()) {
      fail(origin, fmt::format("key '{}' is given twice", name));
    }
    seen.push_back(name);
    const Key<K>& key = *network_schema().find(known->second);
    try {
      key.set(keys, parse_value(key, trimmed(std::string_view(part).substr(equals + 1))));
    } catch (const ConfigError& problem) {
      fail(origin, fmt::format("key '{}': {}", name, problem.what()));
    }
  }
  keys.network.name = text::printable(text);
  return complete(keys, origin, [](const std::string& path) {
    for (const auto& [name, stands_for] : inline_names()) {
      if (stands_for == path) return name;
    }
    return path;
  });
}

}  // namespace

const Schema<NetworkKeys>& network_schema() {
  static const Schema<NetworkKeys> schema({
      with_note(make_key<K>(text("name", "name shown in reports"), &K::network, &Network::name), "the file's name"),
      size_key("batch", kMostHeads, "batch size", &Network::batch),
      required(size_key("heads", kMostHeads, "attention heads", &Network::heads)),
      required(make_key<K>(number("seq", Unit::kCount, 1, kLongestSequence,
                                  "sequence length of queries, keys and values; not needed beside seq_q and seq_kv"),
                           &K::seq)),
      with_note(size_key("seq_q", kLongestSequence, "sequence length of the queries", &Network::seq_q), "seq"),
      with_note(size_key("seq_kv", kLongestSequence, "sequence length of keys and values", &Network::seq_kv), "seq"),
      with_note(size_key("kv_heads", kMostHeads,
                         "heads of K and V; each serves as many consecutive heads of Q (grouped-query attention)",
                         &Network::kv_heads),
                "heads"),
      with_note(make_key<K>(text("contexts",
                                 "keys of each batch where they differ, such as 1000+777+64; in place of batch and "
                                 "seq_kv, for dataflows that decode"),
                            &K::contexts),
                "all alike"),
      required(size_key("emb", kWidestEmbedding, "embedding per head", &Network::emb)),
  });
  return schema;
}

const std::vector<std::pair<std::string, std::string>>& inline_names() {
  static const std::vector<std::pair<std::string, std::string>> names = {
      {"B", "batch"},    {"H", "heads"}, {"N", "seq"},        {"NQ", "seq_q"},
      {"NKV", "seq_kv"}, {"E", "emb"},   {"HKV", "kv_heads"}, {"L", "contexts"}};
  return names;
}

std::uint64_t Network::key_elements() const {
  std::uint64_t rows = 0;
  for (std::uint32_t b = 0; b < batch; ++b) rows += context(b);
  return rows * heads_of_kv() * emb;
}

Network Network::folded() const {
  Network n = *this;
  n.heads = heads_of_kv();
  n.seq_q = seq_q * (heads / n.heads);
  n.kv_heads = 0;
  return n;
}

Network load_network(const std::string& text) {
  if (text.find('=') != std::string::npos && !is_path(text)) return parse_inline(text);
  const std::string path = find_config(Folder::kNetworks, text);
  const Document document = Document::load(path);
  K keys;
  keys.network.name = text::printable(std::filesystem::path(path).stem().string());
  std::vector<std::string> known = network_schema().paths();
  known.emplace_back(kProvenanceSection);
  for (const Setting& setting : document.settings(known)) network_schema().apply(keys, setting);
  read_provenance(document, network_schema().paths());  // refuses what is wrong with it
  return complete(keys, {document.source()}, [](const std::string& name) { return name; });
}

}  // namespace attnvp::config
