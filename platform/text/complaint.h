// What a user is told on stderr.
#pragma once

#include <string_view>

namespace attnvp::text {

// One printable line that starts with "attnvp: ".
void complain(std::string_view sentence);

}  // namespace attnvp::text
