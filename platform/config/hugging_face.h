// Attention layers of models as Hugging Face describes them: a config.json, or the folder that holds one.
#pragma once

#include <string>
#include <vector>

#include "platform/config/document.h"
#include "platform/config/provenance.h"

namespace attnvp::config {

struct ModelFile {
  std::string source;               // the file, as messages show it
  std::vector<Setting> settings;    // as those of network files
  std::vector<Provenance> sources;  // one for each setting
  // Why scope=layer and scope=model cannot be had of it: a sentence that names the key. Empty: they can.
  std::string no_layer, no_model;
};

// A layer of the model; `layer_type`, "full_attention" or "sliding_attention", selects one where layers differ, and is
// empty otherwise. Throws ConfigError: not readable, not JSON, no such model, a bad value, layers that differ without a
// selection, attention that a network cannot express.
ModelFile read_hugging_face(const std::string& path, const std::string& layer_type);

}  // namespace attnvp::config
