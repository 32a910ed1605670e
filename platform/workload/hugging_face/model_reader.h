// Reads one config.json by the entry of its model type: settings of a network with their provenance.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "platform/workload/hugging_face/hugging_face.h"
#include "platform/workload/hugging_face/model_family.h"

namespace attnvp::workload {

// Hugging Face config.json as a map of keys, with lookup and errors by file and key.

class ModelJson {
 public:
  // Reads a file, or the config.json of a folder. Infinity and NaN, which Python writes, are accepted but are no valid
  // numbers. Throws ConfigError: not readable, not JSON (with line and column), not an object.
  static ModelJson load(const std::string& file_or_folder);

  const std::string& source() const { return source_; }
  const nlohmann::json& keys() const { return *part_; }

  // Map under a key; messages name its keys "KEY.NAME". None: absent, null or not a map.
  std::optional<ModelJson> inside(const char* key) const;

  bool has(const char* key) const { return part_->contains(key); }  // true for null
  const nlohmann::json* find(const char* key) const;                // nullptr: absent or null

  // Value of a key; none if absent or null. Throws ConfigError for another type.
  std::optional<std::uint64_t> whole(const char* key, std::uint64_t least = 1) const;  // least to 2^32 - 1
  std::optional<double> positive(const char* key) const;
  std::optional<bool> flag(const char* key) const;
  std::optional<std::string> text(const char* key) const;

  std::string named(const char* key) const { return "key '" + prefix_ + key + "'"; }
  [[noreturn]] void refuse(const char* key, const std::string& why) const;  // FILE: key 'KEY': WHY
  [[noreturn]] void refuse_value(const char* key, const std::string& allowed) const;

 private:
  ModelJson() = default;
  std::shared_ptr<const nlohmann::json> root_;
  const nlohmann::json* part_ = nullptr;
  std::string source_, prefix_;
};

// A value as shown in messages: 'text', 'number', "a list", "a map".
std::string shown_value(const nlohmann::json& value);

// Of one file; used once.
class ModelReader {
 public:
  ModelReader(const ModelJson& file, const ModelFamily& family, std::string type)
      : file_(file), family_(family), type_(std::move(type)) {
    result_.source = file.source();
  }

  ModelFile read(const std::string& layer_type);

 private:
  struct Number {
    std::uint64_t value;
    config::Provenance from;
  };

  // Sources of a value: the key, the default of the configuration class, the code of Transformers, other values.
  config::Provenance of_key(const char* key) const;
  config::Provenance of_class(const char* key) const;
  config::Provenance of_key_or_class(const char* key) const {
    return file_.find(key) != nullptr ? of_key(key) : of_class(key);
  }
  config::Provenance of_type() const;
  static config::Provenance derived(const std::string& from) { return {config::ProvenanceKind::kDerived, from, {}}; }

  // Value of a key, of its alias in Transformers (nullptr: none), or the class's default.
  Number number(const char* key, const char* alias, std::uint32_t fallback) const;
  void set(const char* key, const std::string& value, config::Provenance from);
  void set(const char* key, const Number& n) { set(key, std::to_string(n.value), n.from); }
  void no_layer(const std::string& why);  // the first reason stays

  // Heads and scores (model_structure.cpp).
  void read_heads();
  void read_width();
  void set_width(const Number& width);
  void read_latent();          // latent attention (MLA); the scale is that of the heads before absorption
  double yarn_factor() const;  // of attention; it scales both Q and K
  void read_scores();

  // Layers by kind, windows and causality (model_layers.cpp).
  struct LayerFeatures {  // of one layer
    bool is_windowed = false, has_experts = false, is_rotary = true;
    bool operator==(const LayerFeatures& o) const {
      return is_windowed == o.is_windowed && has_experts == o.has_experts && is_rotary == o.is_rotary;
    }
  };
  void read_layers(const std::string& layer_type);
  bool has_decoder() const { return family_.encoder_decoder && file_.flag("is_encoder_decoder").value_or(true); }
  void set_decoder(const Number& layers);  // an encoder of `layers`, and a decoder of the same widths
  // Blocks of equal layers, in the order of their first layers; `is_windowed`: of the selected layer type.
  void set_blocks(const std::vector<LayerFeatures>& kinds, const Number& layers, bool is_windowed);
  std::vector<std::uint64_t> indices(const char* key, std::uint64_t layers) const;  // of layers, under a key
  void read_experts(std::vector<LayerFeatures>& kinds);
  void read_window(std::uint64_t& window, config::Provenance& from) const;
  void read_windows(std::vector<LayerFeatures>& kinds, std::uint64_t window) const;  // sets the layers with a window
  bool read_list(std::vector<LayerFeatures>& kinds, bool listed) const;
  // Without causality a window extends to both sides.
  bool read_causal(bool windowed, std::uint64_t& window, config::Provenance& from) const;

  void read_tokens();

  // Structure around attention (model_structure.cpp); no_layer() records why it cannot be expressed.
  void read_model();
  const char* key_of_experts() const;  // in model types that are not known to have experts; nullptr: none
  double rotary_share() const;         // of a head's columns
  Number read_ffn() const;
  void read_order();
  void read_rotary();
  void read_ends();     // embedding and last projection
  void read_weights();  // files of MXFP4 list all modules but the experts as not converted
  std::string read_activation(bool& gated);

  const ModelJson& file_;
  const ModelFamily& family_;
  std::string type_;
  ModelFile result_;
  Number heads_{}, hidden_{};
  std::uint64_t width_ = 0, tokens_ = 0;  // of a head; that have positions
  bool has_experts_ = false, has_dense_ = true, is_alibi_ = false, is_rotary_ = true;
};

}  // namespace attnvp::workload
