// Parser of "a=1,b=2" on the command line.
#pragma once

#include <string_view>
#include <vector>

#include "platform/machine/document.h"

namespace attnvp::job {

// Each key at most once. Throws config::ConfigError.
std::vector<config::Setting> split_settings(std::string_view list, const config::Origin& origin);

}  // namespace attnvp::job
