#include "explore/reproduce/paper.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "platform/config/catalog.h"
#include "platform/config/document.h"
#include "platform/config/error.h"
#include "platform/config/words.h"

namespace attnvp::reproduce {

namespace {

struct Line {
  config::Origin origin;
  std::vector<std::string> cells;
};

// The lines that are no comments, each with as many cells as the first.
std::vector<Line> read_csv(const std::string& name) {
  const std::string path = config::config_root() + "/paper/" + name;
  std::istringstream text(config::read_text_file(path));
  std::vector<Line> lines;
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    if (config::trimmed(line).empty() || line[0] == '#') continue;
    Line cells{{config::shown_path(path), number}, {}};
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

double number(const Line& line, std::size_t column) {
  const std::string& cell = line.cells[column];
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size() || !(value > 0)) {
    config::fail(line.origin, fmt::format("found {}; allowed is a number above 0", config::in_quotes(cell)));
  }
  return value;
}

// A table of networks x dataflows; the first one read says which there are.
Paper::Cells read_table(const std::string& name, double unit, Paper& paper) {
  const std::vector<Line> lines = read_csv(name);
  const std::vector<std::string> dataflows(lines[0].cells.begin() + 1, lines[0].cells.end());
  const bool first = paper.dataflows.empty();
  if (first) paper.dataflows = dataflows;
  if (dataflows != paper.dataflows || dataflows.back() != "mas") {
    config::fail(lines[0].origin, "the dataflows must be those of the other table, mas last");
  }
  Paper::Cells cells;
  for (std::size_t row = 1; row < lines.size(); ++row) {
    const std::string& network = lines[row].cells[0];
    if (first) paper.networks.push_back(network);
    if (row > paper.networks.size() || network != paper.networks[row - 1]) {
      config::fail(lines[row].origin, "the networks must be those of the other table, in its order");
    }
    for (std::size_t c = 0; c < dataflows.size(); ++c) {
      cells[{network, dataflows[c]}] = number(lines[row], c + 1) * unit;
    }
  }
  if (lines.size() - 1 != paper.networks.size()) config::fail(lines.back().origin, "networks are missing behind it");
  return cells;
}

}  // namespace

double Paper::claim(const std::string& what, const std::string& of) const {
  const auto found = claims.find({what, of});
  return found == claims.end() ? 0 : found->second;
}

Paper load_paper() {
  Paper paper;
  paper.cycles = read_table("mas_table2_cycles.csv", 1e6, paper);
  paper.energy_pj = read_table("mas_table3_energy.csv", 1e9, paper);
  const std::vector<Line> claims = read_csv("mas_claims.csv");
  if (claims[0].cells.size() != 3) config::fail(claims[0].origin, "claim, of and value are the columns allowed");
  for (std::size_t row = 1; row < claims.size(); ++row) {
    paper.claims[{claims[row].cells[0], claims[row].cells[1]}] = number(claims[row], 2);
  }
  return paper;
}

}  // namespace attnvp::reproduce
