// The reference of all configuration keys, rendered from the tables that validate them.
#pragma once

#include <string>

namespace attnvp::config {

// The whole of configs/README.md. A test holds the file against it; `ATTNVP_UPDATE_REFERENCE=1` on that test
// rewrites it.
std::string reference_markdown();

}  // namespace attnvp::config
