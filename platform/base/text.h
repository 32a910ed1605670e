// Text of messages, tables and pages: sanitised external text, error messages on stderr, page templates, and the width
// of terminal lines.
#pragma once

#include <cstddef>
#include <map>
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

// Name-based UUID of a text (SHA-1), as a key.
std::string uuid_of(const std::string& text);

// Prints one line to stderr that starts with "attnvp: ".
void complain(std::string_view sentence);

// Page templates: replaces all known marks, such as @DATA@, in one pass; replaced text is not scanned again.
std::string fill(std::string_view page, const std::map<std::string, std::string_view>& marks);

// Width of terminal lines, in characters.
inline constexpr std::size_t kUnlimited = static_cast<std::size_t>(-1);

// For tables: $COLUMNS if set, else the width of the terminal; 100 if stdout is a file or a pipe.
std::size_t line_width();
// For progress lines: width of the terminal; kUnlimited if stderr is a file or a pipe.
std::size_t message_width();

}  // namespace attnvp::text
