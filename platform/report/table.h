// Tables of reports, as text and as cells of CSV.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "platform/base/text.h"

namespace attnvp::report {

// Text table: minimal column widths, text left, numbers right. If the line is too narrow, text is wrapped; then
// remaining columns follow below, each part beginning with the first column.
class Table {
 public:
  enum class Align : unsigned char { kLeft, kRight };
  void column(std::string title, Align align = Align::kRight);
  void row(std::vector<std::string> cells);
  std::string text(std::size_t line_width = text::kUnlimited) const;

 private:
  using Cells = std::vector<std::string>;
  struct TablePart {  // columns of one block
    std::vector<std::size_t> columns, widths;
  };
  std::vector<TablePart> parts(std::size_t line_width) const;
  void line(std::string& out, const TablePart& part, const Cells& cells) const;
  std::vector<std::string> titles_;
  std::vector<Align> align_;
  std::vector<std::vector<std::string>> rows_;
};

// Text of one paragraph, broken at spaces into lines of at most `width` characters; ends with a line end.
std::string paragraph(const std::string& text, std::size_t width);
std::string with_commas(unsigned long long n);                // 1234567 -> "1,234,567"
std::string counted(unsigned long long n, const char* noun);  // "1 job", "1,200 jobs"
// Bytes, seconds or joules with a prefix and three significant digits: "1.57 MB", "210 us", "12.4 mJ".
std::string with_prefix(double value, const char* unit);
std::string rate_text(double value);  // 65790.2 -> "65,790", 12.345 -> "12.3"
std::string upper(std::string name);  // "dram" -> "DRAM"
std::string percent(double share);    // 0.998 -> "99.8%"

// Cells of comma-separated values (RFC 4180).

inline std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

// Shortest digits that parse to the same number.
inline std::string csv_number(double value) { return fmt::format("{}", value); }

}  // namespace attnvp::report
