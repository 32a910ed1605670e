// Error messages on stderr.
#pragma once

#include <string_view>

namespace attnvp::text {

// Prints one line that starts with "attnvp: ".
void complain(std::string_view sentence);

}  // namespace attnvp::text
