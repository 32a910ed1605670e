// Whole-number expressions of graph files: "2 + 1 + 10", "N + 24 + 10", "max(2, N/2)".
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace attnvp::stream {

using Variables = std::vector<std::pair<std::string_view, std::int64_t>>;

// Numbers, variables, + - * / (rounds down), parentheses, min(a, b), max(a, b). Throws config::ConfigError without a
// place: what is wrong, and with which text.
std::int64_t evaluate(std::string_view text, const Variables& variables);

}  // namespace attnvp::stream
