// Tables of comma-separated values that are read (RFC 4180): a line of column names, then lines of as many cells. Lines
// that begin with '#' are comments. A cell may be in double quotes; blanks around its text do not count.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "platform/config/error.h"

namespace attnvp::config {

struct CsvLine {
  Origin origin;
  std::vector<std::string> cells;
};

// The first line holds the names, each once. Throws ConfigError with file and line.
std::vector<CsvLine> read_csv_table(const std::string& path);

// Throws ConfigError with file and line: no number, not finite, not above 0.
double positive_number(const CsvLine& line, std::size_t column);
// Likewise; 0 is allowed.
double number_from_zero(const CsvLine& line, std::size_t column);

}  // namespace attnvp::config
