// Console output of programs as printable lines.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>

namespace attnvp::riscv {

// Appends a character to a line. Non-printable characters become \t, \r or \xHH.
inline void append_printable(std::string& line, char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 0x20 && byte < 0x7f) {
    line += c;
  } else if (c == '\t') {
    line += "\\t";
  } else if (c == '\r') {
    line += "\\r";
  } else {
    fmt::format_to(std::back_inserter(line), "\\x{:02x}", byte);
  }
}

}  // namespace attnvp::riscv
