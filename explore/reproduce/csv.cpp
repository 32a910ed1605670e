#include "explore/reproduce/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "platform/config/catalog.h"
#include "platform/config/document.h"
#include "platform/config/words.h"

namespace attnvp::reproduce {

std::vector<CsvLine> read_csv(const std::string& name) {
  const std::string path = config::config_root() + "/paper/" + name;
  std::istringstream text(config::read_text_file(path));
  std::vector<CsvLine> lines;
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    if (config::trimmed(line).empty() || line[0] == '#') continue;
    CsvLine cells{{config::shown_path(path), number}, {}};
    for (std::size_t start = 0; start <= line.size();) {
      const std::size_t comma = std::min(line.find(',', start), line.size());
      cells.cells.emplace_back(config::trimmed(std::string_view(line).substr(start, comma - start)));
      start = comma + 1;
    }
    const std::size_t columns = lines.empty() ? cells.cells.size() : lines.front().cells.size();
    if (cells.cells.size() != columns) {
      config::fail(cells.origin, fmt::format("found {} cells, the first line has {}", cells.cells.size(), columns));
    }
    lines.push_back(std::move(cells));
  }
  if (lines.size() < 2 || lines.front().cells.size() < 2) {
    throw config::ConfigError(fmt::format("{}: there is no table in it", config::shown_path(path)));
  }
  return lines;
}

double csv_number(const CsvLine& line, std::size_t column) {
  const std::string& cell = line.cells[column];
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size() || !(value > 0)) {
    config::fail(line.origin, fmt::format("found {}; allowed is a number above 0", config::in_quotes(cell)));
  }
  return value;
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace attnvp::reproduce
