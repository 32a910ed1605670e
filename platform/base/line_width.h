// Width of terminal lines, in characters.
#pragma once

#include <cstddef>

namespace attnvp::text {

inline constexpr std::size_t kUnlimited = static_cast<std::size_t>(-1);

// For tables: $COLUMNS if set, else the width of the terminal; 100 if stdout is a file or a pipe.
std::size_t line_width();
// For progress lines: width of the terminal; kUnlimited if stderr is a file or a pipe.
std::size_t message_width();

}  // namespace attnvp::text
