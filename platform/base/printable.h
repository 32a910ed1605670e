// Sanitised external text for messages, tables and pages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace attnvp::text {

inline constexpr std::size_t kLongestMessage = 2000;  // characters

// Valid UTF-8 without control characters: invalid bytes become \xHH, newlines \n, other controls (also bidirectional
// ones) \xHH or \uHHHH. Truncated with "..." after `longest` characters.
std::string printable(std::string_view text, std::size_t longest = kLongestMessage);

// True if nothing needs to be escaped.
bool is_printable(std::string_view text);

// Offset of the first byte that is not UTF-8; npos: none.
std::size_t first_not_utf8(std::string_view text);

// For HTML and SVG, in content and in double-quoted attributes.
std::string escaped_for_html(std::string_view text);

}  // namespace attnvp::text
