// The reference of all configuration keys, rendered from the tables that validate them.
#pragma once

#include <string>
#include <vector>

#include "models/keys/key.h"

namespace attnvp::config {

// The whole of configs/README.md. A test holds the file against it; `ATTNVP_UPDATE_REFERENCE=1` on that test
// rewrites it.
std::string reference_markdown();

// Keys of machines and networks, by their paths.
std::vector<std::string> key_paths();
// What there is to know of the key with that path, a network's inline name or, for a section's path, of each of its
// keys: type, unit, default, range, meaning. Empty: no such key.
std::string key_text(const std::string& path);
// The same of a key of any table; `holder`: "machine".
std::string key_text(const KeyInfo& key, const std::string& holder, const std::string& default_text);

}  // namespace attnvp::config
