// Which AttnVP this is; every output says so.
#pragma once

#include <string>

namespace attnvp::text {

std::string version();    // "0.9.0"
std::string generator();  // "AttnVP 0.9.0"

}  // namespace attnvp::text
