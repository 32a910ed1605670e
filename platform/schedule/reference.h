// The reference of commands as Markdown, from the tables of operations, flags, element types and kinds of masks
// (firmware/hal): docs/reference/commands.md, which a test keeps equal, and `attnvp describe commands`.
#pragma once

#include <string>

namespace attnvp::schedule {

std::string commands_markdown();

}  // namespace attnvp::schedule
