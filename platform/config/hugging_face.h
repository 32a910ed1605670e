// Attention layers of models as Hugging Face describes them: a config.json, or the folder that holds one.
#pragma once

#include <string>
#include <vector>

#include "platform/config/document.h"

namespace attnvp::config {

// As settings of network files. Throws ConfigError: not readable, not JSON, no such model, a key missing or not a
// number.
std::vector<Setting> read_hugging_face(const std::string& path);

}  // namespace attnvp::config
