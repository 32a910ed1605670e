// What Accelergy's energy and area reference tables (ERT, ART) have in common.
#pragma once

#include <string>

#include "platform/config/error.h"

namespace attnvp::config {

// A component's name without how many there are: "chip.pe[1..168]" is chip.pe.
std::string without_instances(const std::string& name);
// Throws ConfigError for a version whose tables have another form.
void check_accelergy_version(const std::string& version, const Origin& origin, const char* table);

}  // namespace attnvp::config
