// Parser of expressions: text to program.
#pragma once

#include <string_view>

#include "platform/base/expression/expression.h"

namespace attnvp::expression {

// Throws ConfigError at `origin`.
Program parse_program(std::string_view text, const Symbols& symbols, const config::Origin& origin, Numbers numbers);

// Throws "expression 'a <': ..." at `origin`, which may be empty.
[[noreturn]] void refuse(std::string_view text, const config::Origin& origin, const std::string& what);

std::string kind_text(const Symbol& symbol);  // "bytes", "a text", "a condition"

}  // namespace attnvp::expression
