#include "platform/workload/hugging_face/model_reader.h"

#include <fmt/format.h>

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
    set("encoder", number(key, ModelKeys{}.positions, family_.defaults.positions));
    tokens = number(of_decoder, nullptr, family_.decoder.positions_default).value;
  } else if (family_.defaults.positions > 0 || file_.find(key) != nullptr) {
    tokens = number(key, ModelKeys{}.positions, family_.defaults.positions).value;
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

}  // namespace attnvp::workload
