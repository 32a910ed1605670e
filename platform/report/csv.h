// Cells of comma-separated values (RFC 4180).
#pragma once

#include <fmt/format.h>

#include <string>

namespace attnvp::report {

inline std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

// Shortest digits that parse to the same number.
inline std::string csv_number(double value) { return fmt::format("{}", value); }

}  // namespace attnvp::report
