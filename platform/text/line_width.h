// How wide lines on the terminal may be.
#pragma once

#include <cstddef>

namespace attnvp::text {

inline constexpr std::size_t kUnlimited = static_cast<std::size_t>(-1);

// $COLUMNS where it is set, else what the terminal says that stdout is; kUnlimited where it is none: files and pipes
// have whole lines.
std::size_t line_width();
// The same of stderr, without $COLUMNS.
std::size_t message_width();

}  // namespace attnvp::text
