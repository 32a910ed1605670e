// The one table printer: columns as wide as they need to be, text left, numbers right.
// On narrow lines text is wrapped, then the columns that do not fit follow below, each part beginning with the first
// one.
#pragma once

#include <string>
#include <vector>

#include "platform/text/line_width.h"

namespace attnvp::report {

class Table {
 public:
  enum class Align : unsigned char { kLeft, kRight };
  void column(std::string title, Align align = Align::kRight);
  void row(std::vector<std::string> cells);
  std::string text(std::size_t line_width = text::kUnlimited) const;

 private:
  using Cells = std::vector<std::string>;
  struct Part {  // of the columns
    std::vector<std::size_t> columns, widths;
  };
  std::vector<Part> parts(std::size_t line_width) const;
  void line(std::string& out, const Part& part, const Cells& cells) const;
  std::vector<std::string> titles_;
  std::vector<Align> align_;
  std::vector<std::vector<std::string>> rows_;
};

std::string with_commas(unsigned long long n);                // 1234567 -> "1,234,567"
std::string counted(unsigned long long n, const char* noun);  // "1 job", "1,200 jobs"
// Bytes, seconds or joules with a prefix and three significant digits: "1.57 MB", "210 us", "12.4 mJ".
std::string with_prefix(double value, const char* unit);
std::string upper(std::string name);  // "dram" -> "DRAM"
std::string percent(double share);    // 0.998 -> "99.8%"

}  // namespace attnvp::report
