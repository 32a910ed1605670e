// The paper's numbers under configs/paper: comments, a line of column names, lines of as many cells.
#pragma once

#include <string>
#include <vector>

#include "platform/config/error.h"

namespace attnvp::reproduce {

struct CsvLine {
  config::Origin origin;
  std::vector<std::string> cells;
};
// The first line holds the names. Throws config::ConfigError with file and line.
std::vector<CsvLine> read_csv(const std::string& name);
// Above 0.
double csv_number(const CsvLine& line, std::size_t column);
// Quoted where it must be.
std::string csv_cell(const std::string& text);

}  // namespace attnvp::reproduce
