// Generator of the command reference in Markdown, from the tables of operations, flags, element types and masks
// (firmware/hal). Output of `attnvp describe commands` and docs/reference/commands.md; a test keeps them equal.
#pragma once

#include <string>

namespace attnvp::schedule {

std::string commands_markdown();

}  // namespace attnvp::schedule
