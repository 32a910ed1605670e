// The papers' numbers: CSV files under configs/paper.
#pragma once

#include <string>
#include <vector>

#include "platform/config/error.h"

namespace attnvp::reproduce {

struct CsvLine {
  config::Origin origin;
  std::vector<std::string> cells;
};

// The lines that are no comments, column names first, each with as many cells as the first. Throws config::ConfigError.
std::vector<CsvLine> read_csv(const std::string& name);

// Throws config::ConfigError unless the cell is a number above 0.
double number(const CsvLine& line, std::size_t column);

}  // namespace attnvp::reproduce
