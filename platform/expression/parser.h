// The text of an expression as a program.
#pragma once

#include <string_view>

#include "platform/expression/expression.h"

namespace attnvp::expression {

// Throws ConfigError at `origin`.
Program parse_program(std::string_view text, const Symbols& symbols, const config::Origin& origin, Numbers numbers);

// "expression 'a <': ..." at `origin`, which may be none.
[[noreturn]] void refuse(std::string_view text, const config::Origin& origin, const std::string& what);

std::string kind_text(const Symbol& symbol);  // "bytes", "a text", "a condition"

}  // namespace attnvp::expression
