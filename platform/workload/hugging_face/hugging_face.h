// Reader of Hugging Face model configurations: a config.json, or the folder that holds one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/machine/document.h"
#include "platform/machine/provenance.h"

namespace attnvp::workload {

// Layer types in Transformers.
inline constexpr const char* kSlidingAttention = "sliding_attention";
inline constexpr const char* kFullAttention = "full_attention";

struct ModelFile {
  std::string source;                       // the file, as shown in messages
  std::vector<config::Setting> settings;    // the same keys as in network files
  std::vector<config::Provenance> sources;  // one for each setting
  // Why scope=layer and scope=model are not available; a sentence that names the key. Empty: available.
  std::string no_layer;
  std::uint32_t block = 0;  // first block with the layer type; 0: none was selected
};

// Reads a model. `layer_type` ("full_attention", "sliding_attention") selects the layers of scope=attention and
// scope=layer if their attention differs; otherwise it is empty. Throws ConfigError: unreadable file, invalid JSON,
// unknown model, bad value.
ModelFile read_hugging_face(const std::string& path, const std::string& layer_type);

}  // namespace attnvp::workload
