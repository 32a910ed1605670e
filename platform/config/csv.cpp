#include "platform/config/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "platform/config/document.h"
#include "platform/config/words.h"

namespace attnvp::config {

namespace {

bool parse(const std::string& cell, double& value) {
  const char* const stop = cell.data() + cell.size();
  const auto [end, error] = std::from_chars(cell.data(), stop, value);
  return error == std::errc() && end == stop && std::isfinite(value);
}

}  // namespace

std::vector<CsvLine> read_csv_table(const std::string& path) {
  std::istringstream text(read_text_file(path));
  std::vector<CsvLine> lines;
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    if (trimmed(line).empty() || line[0] == '#') continue;
    CsvLine cells{{shown_path(path), number}, {}};
    for (std::size_t start = 0; start <= line.size();) {
      const std::size_t comma = std::min(line.find(',', start), line.size());
      cells.cells.emplace_back(trimmed(std::string_view(line).substr(start, comma - start)));
      start = comma + 1;
    }
    const std::size_t columns = lines.empty() ? cells.cells.size() : lines.front().cells.size();
    if (cells.cells.size() != columns) {
      fail(cells.origin, fmt::format("found {} cells, the first line has {}", cells.cells.size(), columns));
    }
    lines.push_back(std::move(cells));
  }
  if (lines.size() < 2 || lines.front().cells.size() < 2) {
    throw ConfigError(fmt::format("{}: there is no table in it", shown_path(path)));
  }
  return lines;
}

double positive_number(const CsvLine& line, std::size_t column) {
  double value = 0;
  if (!parse(line.cells[column], value) || value <= 0) {
    fail(line.origin, fmt::format("found {}; allowed is a number above 0", in_quotes(line.cells[column])));
  }
  return value;
}

double number_from_zero(const CsvLine& line, std::size_t column) {
  double value = 0;
  if (!parse(line.cells[column], value) || value < 0) {
    fail(line.origin, fmt::format("found {}; allowed is a number from 0 on", in_quotes(line.cells[column])));
  }
  return value;
}

}  // namespace attnvp::config
