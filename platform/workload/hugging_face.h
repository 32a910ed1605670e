// Reader of Hugging Face model configurations: a config.json, or the folder that holds one.
#pragma once

#include <string>
#include <vector>

#include "platform/machine/document.h"
#include "platform/machine/provenance.h"

namespace attnvp::workload {

struct ModelFile {
  std::string source;                       // the file, as shown in messages
  std::vector<config::Setting> settings;    // the same keys as in network files
  std::vector<config::Provenance> sources;  // one for each setting
  // Why scope=layer and scope=model are not available; a sentence that names the key. Empty: available.
  std::string no_layer, no_model;
};

// Reads one layer of the model. `layer_type` ("full_attention", "sliding_attention") selects one if layers differ;
// otherwise it is empty. Throws ConfigError: unreadable file, invalid JSON, unknown model, bad value, missing
// selection, or attention that a network cannot express.
ModelFile read_hugging_face(const std::string& path, const std::string& layer_type);

}  // namespace attnvp::workload
