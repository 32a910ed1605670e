// Common parts of Accelergy's energy and area reference tables (ERT, ART).
#pragma once

#include <string>

#include "platform/machine/error.h"

namespace attnvp::config {

// A component's name without its instance range: chip.pe for "chip.pe[1..168]".
std::string without_instances(const std::string& name);
// Throws ConfigError for a version with another table format.
void check_accelergy_version(const std::string& version, const Origin& origin, const char* table);

}  // namespace attnvp::config
