// Reader of comma-separated values (RFC 4180): a line of column names, then lines with as many cells. Lines that begin
// with '#' are comments. Cells may be in double quotes; blanks around their text are ignored.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "platform/machine/error.h"

namespace attnvp::config {

struct CsvLine {
  Origin origin;
  std::vector<std::string> cells;
};

// Column names must be unique. Throws ConfigError with file and line.
std::vector<CsvLine> read_csv_table(const std::string& path);
// Lines of a part of a table; `first` is the file and the number of its first line.
std::vector<CsvLine> read_csv_lines(std::string_view part, const Origin& first);

// Throws ConfigError with file and line: not a number, not finite, not above 0.
double positive_number(const CsvLine& line, std::size_t column);
// As positive_number, but allows 0.
double number_from_zero(const CsvLine& line, std::size_t column);

}  // namespace attnvp::config
