// Reference of all configuration keys, generated from the tables that validate them.
#pragma once

#include <string>
#include <vector>

#include "models/keys/key.h"

namespace attnvp::report {

// Text of configs/README.md. A test compares the file with it; `ATTNVP_UPDATE_REFERENCE=1` on that test rewrites it.
std::string reference_markdown();

// Paths of machine and network keys.
std::vector<std::string> key_paths();
// Description of a key by path, of a network's inline name, or of all keys of a section: type, unit, default, range,
// meaning. Empty: unknown.
std::string key_text(const std::string& path);
// Description of a key of any table; `holder`: "machine".
std::string key_text(const config::KeyInfo& key, const std::string& holder, const std::string& default_text);

}  // namespace attnvp::report
