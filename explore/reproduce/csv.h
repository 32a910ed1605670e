// The paper's numbers under configs/paper.
#pragma once

#include <string>
#include <vector>

#include "platform/config/csv.h"
#include "platform/report/csv.h"

namespace attnvp::reproduce {

using config::CsvLine;

// The first line holds the names. Throws config::ConfigError with file and line.
std::vector<CsvLine> read_csv(const std::string& name);
// Above 0.
inline double csv_number(const CsvLine& line, std::size_t column) { return config::positive_number(line, column); }
using report::csv_cell;

}  // namespace attnvp::reproduce
