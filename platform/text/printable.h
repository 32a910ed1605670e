// Text from outside, made fit for a message, a table or a page.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace attnvp::text {

inline constexpr std::size_t kLongestMessage = 2000;  // characters

// Valid UTF-8 without control characters: bytes that are no UTF-8 become \xHH, newlines \n, other controls (those that
// turn the direction of writing too) \xHH or \uHHHH. Longer than `longest` characters, it is cut off and ends in "...".
std::string printable(std::string_view text, std::size_t longest = kLongestMessage);

// Nothing to escape?
bool is_printable(std::string_view text);

// Where the first byte stands that is no UTF-8; npos when all is.
std::size_t first_not_utf8(std::string_view text);

// For HTML and SVG, in content and in attributes between double quotes.
std::string escaped_for_html(std::string_view text);

}  // namespace attnvp::text
