#include "platform/workload/hugging_face/model_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <vector>

#include "platform/base/files.h"
#include "platform/machine/document.h"
#include "platform/machine/error.h"
#include "platform/machine/words.h"

namespace attnvp::workload {

using namespace config;

namespace {

constexpr std::uint64_t kMostTokens = 2048;  // default sequence length

}  // namespace

Provenance ModelReader::of_key(const char* key) const {
  return {ProvenanceKind::kPublished, file_.named(key) + " of the file", {}};
}

Provenance ModelReader::of_class(const char* key) const {
  return {ProvenanceKind::kPublished, fmt::format("default of {} for {}", family_.config_class, file_.named(key)), {}};
}

Provenance ModelReader::of_type() const {
  return {ProvenanceKind::kPublished, fmt::format("code of Transformers for model_type '{}'", type_), {}};
}

void ModelReader::set(const char* key, const std::string& value, Provenance from) {
  result_.settings.push_back({key, value, {file_.source()}});
  result_.sources.push_back(std::move(from));
}

void ModelReader::no_layer(const std::string& why) {
  if (result_.no_layer.empty()) result_.no_layer = why;
}

ModelReader::Number ModelReader::number(const char* key, const char* alias, std::uint32_t fallback) const {
  for (const char* name : {key, alias}) {
    if (name == nullptr) continue;
    if (const auto value = file_.whole(name)) return {*value, of_key(name)};
  }
  if (fallback == 0) file_.refuse(key, "it is missing");
  return {fallback, of_class(key)};
}

ModelFile ModelReader::read(const std::string& layer_type) {
  read_heads();
  read_layers(layer_type);
  read_scores();
  read_tokens();
  read_model();
  return std::move(result_);
}

void ModelReader::read_tokens() {
  const char* const key = family_.keys.positions;
  if (family_.positions == Positions::kPatches || family_.positions == Positions::kPatchesAlone) {
    constexpr std::uint32_t kImage = 224, kChannels = 3;  // defaults of the classes
    const std::uint64_t patch = number("patch_size", nullptr, family_.defaults.patch).value,
                        side = number("image_size", nullptr, kImage).value / patch;
    if (side == 0) file_.refuse_value("image_size", "'patch_size' or more");
    const bool has_class = family_.positions == Positions::kPatches;
    tokens_ = side * side + (has_class ? 1 : 0);
    set("seq", std::to_string(tokens_),
        derived(has_class ? "patches of the image, and the class token" : "patches of the image"));
    set("patch", std::to_string(patch * patch * number("num_channels", nullptr, kChannels).value),
        derived("'patch_size' and 'num_channels'"));
    return;
  }
  const char* const of_decoder = has_decoder() ? family_.decoder.positions : nullptr;
  std::uint64_t tokens = kMostTokens;
  if (of_decoder != nullptr) {
    set("encoder", number(key, ModelKeys{}.positions, family_.sizes.positions));
    tokens = number(of_decoder, nullptr, family_.decoder.positions_default).value;
  } else if (family_.sizes.positions > 0 || file_.find(key) != nullptr) {
    tokens = number(key, ModelKeys{}.positions, family_.sizes.positions).value;
  }
  if (family_.positions == Positions::kAfterPadding) {
    constexpr std::uint64_t kPadding = 1;  // default of RobertaConfig; positions begin behind it
    const std::uint64_t before = file_.whole("pad_token_id", 0).value_or(kPadding) + 1;
    if (tokens <= before) file_.refuse_value(key, fmt::format("more than 'pad_token_id' + 1, {}", before));
    tokens -= before;
  }
  tokens_ = tokens;
  if (tokens > kMostTokens) {
    set("seq", std::to_string(kMostTokens), {ProvenanceKind::kAssumed, "as many as are asked for", {}});
  } else {
    set("seq", std::to_string(tokens), derived(fmt::format("'{}'", of_decoder != nullptr ? of_decoder : key)));
  }
}

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
    for (const auto& [name, known] : model_families()) names.push_back(name);
    file.refuse("model_type", fmt::format("found {}; allowed: {}", in_quotes(type), fmt::join(names, ", ")));
  }
  return ModelReader(file, family->second, type).read(layer_type);
}

using namespace config;
namespace {

using nlohmann::json;

constexpr std::uint64_t kLargestModelFile = 16 << 20;  // quantised models list every module: files of 3 MB exist
constexpr int kDeepestModelFile = 100;                 // bounds recursion over values

[[noreturn]] void not_json(const std::string& source, std::string_view text, std::size_t at, const std::string& what) {
  at = std::min(at, text.size());
  const auto before = text.substr(0, at);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t newline = before.rfind('\n');
  const std::size_t column = newline == std::string_view::npos ? at + 1 : at - newline;
  fail({source, static_cast<int>(line)}, fmt::format("{} in column {}", what, column));
}

// JSON text in which Infinity, -Infinity and NaN are replaced by strings.
struct StrictJson {
  std::string text;
  std::vector<std::size_t> added;  // offsets in `text` of added quotes

  std::size_t original(std::size_t at) const {
    return at - static_cast<std::size_t>(std::lower_bound(added.begin(), added.end(), at) - added.begin());
  }
};

StrictJson strict_json(const std::string& source, const std::string& given) {
  StrictJson strict;
  strict.text.reserve(given.size());
  bool quoted = false;
  int depth = 0;
  for (std::size_t at = 0; at < given.size(); ++at) {
    const char c = given[at];
    if (quoted) {
      strict.text += c;
      if (c == '\\' && at + 1 < given.size()) strict.text += given[++at];
      quoted = c != '"';
      continue;
    }
    std::string_view constant;
    for (const std::string_view name : {"-Infinity", "Infinity", "NaN"}) {
      if (constant.empty() && given.compare(at, name.size(), name) == 0) constant = name;
    }
    if (!constant.empty()) {
      strict.added.push_back(strict.text.size());
      strict.text += '"';
      strict.text += constant;
      strict.added.push_back(strict.text.size());
      strict.text += '"';
      at += constant.size() - 1;
      continue;
    }
    strict.text += c;
    quoted = c == '"';
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > kDeepestModelFile) {
      not_json(source, given, at, fmt::format("is nested more than {} levels deep", kDeepestModelFile));
    }
  }
  return strict;
}

}  // namespace

std::string shown_value(const json& value) {
  if (value.is_object()) return "a map";
  if (value.is_array()) return "a list";
  return in_quotes(value.is_string() ? value.get<std::string>() : value.dump());
}

ModelJson ModelJson::load(const std::string& file_or_folder) {
  namespace fs = std::filesystem;
  if (file_or_folder.empty()) throw ConfigError("--net hf: names no file; allowed is hf:FOLDER or hf:FILE.json");
  std::error_code error;
  const std::string path =
      fs::is_directory(file_or_folder, error) ? (fs::path(file_or_folder) / "config.json").string() : file_or_folder;
  ModelJson file;
  file.source_ = shown_path(path);
  if (!fs::exists(path, error)) throw ConfigError(file.source_ + ": no such file");
  const std::string given = files::read_file(file.source_, kLargestModelFile);
  const StrictJson strict = strict_json(file.source_, given);
  auto root = std::make_shared<json>();
  try {
    *root = json::parse(strict.text);
  } catch (const json::parse_error& problem) {
    const std::size_t last = problem.byte > 0 ? problem.byte - 1 : 0;  // the last byte read
    not_json(file.source_, given, strict.original(last), "is not valid JSON: the mistake is");
  } catch (const json::exception&) {
    throw ConfigError(file.source_ + ": holds a number that is out of range");
  }
  if (!root->is_object()) throw ConfigError(file.source_ + ": not a JSON object");
  file.part_ = root.get();
  file.root_ = std::move(root);
  return file;
}

std::optional<ModelJson> ModelJson::inside(const char* key) const {
  const json* const value = find(key);
  if (value == nullptr || !value->is_object()) return std::nullopt;
  ModelJson part = *this;
  part.part_ = value;
  part.prefix_ += std::string(key) + ".";
  return part;
}

const json* ModelJson::find(const char* key) const {
  const auto at = part_->find(key);
  return at == part_->end() || at->is_null() ? nullptr : &*at;
}

std::optional<std::uint64_t> ModelJson::whole(const char* key, std::uint64_t least) const {
  const json* const value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number_unsigned() || value->get<std::uint64_t>() < least || value->get<std::uint64_t>() > UINT32_MAX) {
    refuse_value(key, fmt::format("a whole number from {} to {}", least, UINT32_MAX));
  }
  return value->get<std::uint64_t>();
}

std::optional<double> ModelJson::positive(const char* key) const {
  const json* const value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number() || !(value->get<double>() > 0) || !std::isfinite(value->get<double>())) {
    refuse_value(key, "a number above 0");
  }
  return value->get<double>();
}

std::optional<bool> ModelJson::flag(const char* key) const {
  const json* const value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) refuse_value(key, "true or false");
  return value->get<bool>();
}

std::optional<std::string> ModelJson::text(const char* key) const {
  const json* const value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) refuse_value(key, "a text");
  return value->get<std::string>();
}

void ModelJson::refuse(const char* key, const std::string& why) const {
  throw ConfigError(fmt::format("{}: {}: {}", source_, named(key), why));
}

void ModelJson::refuse_value(const char* key, const std::string& allowed) const {
  const json* const value = find(key);
  refuse(key, fmt::format("found {}; allowed is {}", value == nullptr ? "nothing" : shown_value(*value), allowed));
}

}  // namespace attnvp::workload
