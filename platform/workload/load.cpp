// Loads workloads from texts and files.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <utility>

#include "platform/base/text.h"
#include "platform/machine/catalog.h"
#include "platform/machine/document.h"
#include "platform/machine/words.h"
#include "platform/workload/hugging_face/hugging_face.h"
#include "platform/workload/keys.h"
#include "platform/workload/layers.h"

namespace attnvp::workload {

using namespace config;
namespace {

using K = NetworkKeys;

constexpr std::array<std::string_view, 2> kFileKeys = {"block_mask", "bias"};  // keys whose values are file names

// Applies "B=2,cache=4096"; names are short or full.
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
      fail(origin, fmt::format("key {} is unknown{}", in_quotes(name), hint(name, names, "attnvp describe keys")));
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

Workload parse_inline(const std::string& text, const Lengths* lengths) {
  const Origin origin = option_origin("--net", text);
  K keys;
  apply_words(keys, text, origin);
  keys.attention.name = text::printable(text);
  return complete(keys, origin, inline_name, lengths);
}

// True for "H=12,scale=1/sqrt(E)", whose first word is a name; false for "a=b/net.yaml".
bool is_inline(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return false;
  const std::string_view first = trimmed(std::string_view(text).substr(0, equals));
  if (first.find(',') != std::string_view::npos) return false;  // a base name with keys behind it
  const auto named = [&](const auto& entry) { return entry.first == first; };
  return !is_path(text) || std::any_of(inline_names().begin(), inline_names().end(), named);
}

constexpr std::string_view kLayerType = "layer_type";

// Position of the comma before the keys in "llama3.1-8b,phase=decode"; npos: no keys.
std::size_t words_begin(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::size_t comma = equals == std::string::npos ? equals : text.rfind(',', equals);
  if (comma == std::string::npos) return comma;
  const std::string_view name = trimmed(std::string_view(text).substr(comma + 1, equals - comma - 1));
  const bool known = name == kLayerType || std::any_of(inline_names().begin(), inline_names().end(),
                                                       [&](const auto& entry) { return entry.first == name; });
  return known || !is_path(text) ? comma : std::string::npos;
}

// Refuses a scope that a model file does not support, and selects the block of the layer type.
void select_layers(K& keys, const ModelFile& model, const std::string& layer_type) {
  if (keys.scope != Scope::kAttention && !model.no_layer.empty()) {
    throw ConfigError(
        fmt::format("{}: scope=layer|model: {}; allowed is scope=attention", model.source, model.no_layer));
  }
  if (keys.scope == Scope::kModel) {
    if (!layer_type.empty()) {
      throw ConfigError(fmt::format("{}: layer_type: scope=model runs all layers; allowed is none", model.source));
    }
    return;
  }
  if (!layer_type.empty() && keys.model.block == 0) keys.model.block = model.block;
}

// Removes "layer_type=full_attention" from the keys behind a model file; returns its value.
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

bool is_network_text(const std::string& text) {
  const NetworkText parts = split_network(text);
  return parts.inline_shape || parts.hugging_face() || !parts.words.empty() || parse_operation(text).has_value();
}

namespace {

Workload graph_workload(OperationGraph graph) {
  const auto first = std::find_if(graph.operations.begin(), graph.operations.end(),
                                  [](const LayerOperation& o) { return o.workload.is_attention(); });
  Workload workload = (first == graph.operations.end() ? graph.operations.front() : *first).workload;
  workload.scope = Scope::kLayer;
  workload.graph = std::make_shared<const OperationGraph>(std::move(graph));
  return workload;
}

Workload load(const std::string& text, const Lengths* lengths, bool allows_graph) {
  if (const auto operation = parse_operation(text)) {
    return std::visit([](const auto& o) { return Workload(o); }, *operation);
  }
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
    keys.attention.name = text::printable((file ? named.parent_path() : named).filename().string());
    if (keys.attention.name.empty()) keys.attention.name = "config";
  } else {
    const std::string path = find_config(Folder::kNetworks, parts.base);
    const Document document = Document::load(path);
    keys.attention.name = text::printable(std::filesystem::path(path).stem().string());
    if (is_graph(document)) {
      if (!allows_graph) fail({document.source()}, "a graph within a graph; allowed is one operation");
      if (!parts.words.empty() || lengths != nullptr) {
        fail({document.source()}, "a graph has its own shapes; allowed is the file without keys or requests");
      }
      return graph_workload(read_graph(document, keys.attention.name));
    }
    std::vector<std::string> known = network_schema().paths();
    known.emplace_back(kProvenanceSection);
    for (const Setting& setting : document.settings(known)) network_schema().apply(keys, setting);
    for (std::string* const named : {&keys.block_mask, &keys.bias}) {  // kFileKeys, relative to the file
      if (!named->empty()) *named = (std::filesystem::path(path).parent_path() / *named).string();
    }
    read_provenance(document, network_schema().paths());  // throws for invalid provenance
    origin = {document.source()};
  }
  keys.attention.name += text::printable(text.substr(parts.base.size()));
  if (parts.words.empty()) {
    select_layers(keys, model, parts.layer_type);
    return complete(
        keys, origin, [](const std::string& name) { return name; }, lengths);
  }
  apply_words(keys, parts.words, option_origin("--net", text));
  select_layers(keys, model, parts.layer_type);
  return complete(keys, option_origin("--net", text), inline_name, lengths);
}

// Paths of the keys in `words`: {"batch", "history"}.
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

}  // namespace

Workload load(const std::string& text) { return load(text, nullptr, true); }

Workload load_operation(const std::string& text) { return load(text, nullptr, false); }

Workload load(const std::string& text, const Lengths& lengths) { return load(text, &lengths, true); }

std::string with_absolute_paths(const std::string& text, const std::string& folder) {
  namespace fs = std::filesystem;
  const auto absolute = [&](const std::string& path) {
    std::error_code error;
    return fs::weakly_canonical(fs::absolute(fs::path(folder) / trimmed(path)), error).string();
  };
  std::size_t at = is_inline(text) ? 0 : std::min(words_begin(text), text.size());  // start of the words
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

Provenances network_provenance(const std::string& text) {
  load(text);  // throws for invalid texts
  Provenances of_keys;
  const NetworkText parts = split_network(text);
  if (parts.inline_shape || parse_operation(text)) return of_keys;
  if (parts.hugging_face()) {
    const ModelFile model = read_hugging_face(parts.base.substr(kHuggingFace.size()), parts.layer_type);
    for (std::size_t i = 0; i < model.settings.size(); ++i) of_keys[model.settings[i].path] = model.sources[i];
  } else {
    const Document document = Document::load(find_config(Folder::kNetworks, parts.base));
    if (is_graph(document)) return of_keys;
    const std::vector<std::string>& paths = network_schema().paths();
    std::vector<std::string> known = paths;
    known.emplace_back(kProvenanceSection);
    std::vector<std::string> set;
    for (const Setting& setting : document.settings(known)) set.push_back(setting.path);
    take_statements(of_keys, read_provenance(document, paths), paths, set);
  }
  for (const std::string& key : keys_of_words(parts.words)) {
    of_keys.insert_or_assign(key, Provenance{ProvenanceKind::kSet, {}, {}});
  }
  return of_keys;
}

}  // namespace attnvp::workload
