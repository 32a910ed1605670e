#include "platform/machine/energy/sram.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "platform/machine/catalog.h"
#include "platform/machine/document.h"
#include "platform/machine/words.h"

namespace attnvp::energy {

namespace {
const std::vector<std::string> kColumns = {"node_nm",  "cell",     "banks",    "width_bits",
                                           "bytes",    "read_pj",  "write_pj", "leakage_mw_per_bank",
                                           "area_mm2", "access_ns"};
constexpr std::size_t kShapeColumns = 4;  // node, cell, banks, width

// Text of a line's first cells.
std::string_view shape_of(std::string_view line) {
  std::size_t end = 0;
  for (std::size_t i = 0; i < kShapeColumns && end != std::string_view::npos; ++i) end = line.find(',', end + 1);
  return line.substr(0, end);
}

void check_cells(const config::CsvLine& line) {
  const std::size_t found = line.cells.size(), columns = kColumns.size();
  if (found != columns) {
    config::fail(line.origin, fmt::format("found {} cells, the first line has {}", found, columns));
  }
}

}  // namespace

SramTable::SramTable(const std::string& path) : source_(config::shown_path(path)), text_(config::read_text_file(path)) {
  const std::string_view text = text_;
  bool is_named = false;
  std::string_view shape;
  SramRows* rows = nullptr;
  int number = 0;
  for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
    end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    ++number;
    if (line.empty() || line.front() == '#' || config::trimmed(line).empty()) continue;
    if (!is_named) {
      const config::CsvLine names = config::read_csv_lines(line, {source_, number}).front();
      if (names.cells != kColumns) {
        config::fail(names.origin, fmt::format("the columns are to be {}", fmt::join(kColumns, ",")));
      }
      is_named = true;
      continue;
    }
    if (shape_of(line) != shape) {
      shape = shape_of(line);
      rows = &rows_of(config::read_csv_lines(line, {source_, number}).front());
    }
    rows->lines.push_back({line, number});
  }
}

SramTable::SramRows& SramTable::rows_of(const config::CsvLine& line) {
  check_cells(line);
  const auto number = [&](std::size_t column) { return std::log(config::positive_number(line, column)); };
  smallest_node_nm_ = std::min(smallest_node_nm_, config::positive_number(line, 0));
  return cells_[line.cells[1]][number(0)][number(3)][number(2)];
}

const SramTable::Curve& SramTable::by_bytes(SramRows& rows) const {
  std::call_once(rows.is_read, [&] {
    for (const auto& [text, number_of_line] : rows.lines) {
      for (const config::CsvLine& line : config::read_csv_lines(text, {source_, number_of_line})) {
        check_cells(line);
        const auto number = [&](std::size_t column) { return std::log(config::positive_number(line, column)); };
        Logs figures{};
        for (std::size_t i = 0; i < kFigures; ++i) figures[i] = number(5 + i);
        rows.by_bytes[number(4)] = figures;
      }
    }
  });
  return rows.by_bytes;
}

const SramTable& SramTable::cacti() {
  static const SramTable table(config::config_root() + "/energy/sram-cacti7.csv");
  return table;
}

// `figures_of` gives the figures of a value of the map.
template <class Values, class FiguresOf>
SramTable::Logs SramTable::between(Values& values, double at, bool beyond, const FiguresOf& figures_of) {
  auto above = values.lower_bound(at);
  if (values.size() == 1 || (!beyond && (above == values.begin() || above == values.end()))) {
    return figures_of((above == values.end() ? std::prev(above) : above)->second);
  }
  if (above == values.end()) --above;
  if (above == values.begin()) ++above;
  const auto below = std::prev(above);
  const double share = (at - below->first) / (above->first - below->first);
  const Logs low = figures_of(below->second), high = figures_of(above->second);
  Logs result{};
  for (std::size_t i = 0; i < kFigures; ++i) result[i] = low[i] + share * (high[i] - low[i]);
  return result;
}

SramFigures SramTable::at(const SramShape& shape) const {
  const auto cell = cells_.find(shape.cell);
  if (cell == cells_.end()) {
    throw config::ConfigError(fmt::format("SRAM cells of type {} are unknown{}", config::in_quotes(shape.cell),
                                          config::hint(shape.cell, cells())));
  }
  auto& nodes = cell->second;
  constexpr double kSlack = 1e-9;
  const double node = std::log(shape.node_nm);
  if (node < nodes.begin()->first - kSlack || node > nodes.rbegin()->first + kSlack) {
    throw config::ConfigError(fmt::format("the table of SRAMs has {} cells from {:g} nm to {:g} nm; found {:g} nm",
                                          shape.cell, std::exp(nodes.begin()->first), std::exp(nodes.rbegin()->first),
                                          shape.node_nm));
  }
  const Logs logs = between(nodes, node, false, [&](auto& widths) {
    return between(widths, std::log(shape.width_bits), true, [&](auto& banks) {
      return between(banks, std::log(shape.banks), false, [&](SramRows& rows) {
        return between(by_bytes(rows), std::log(shape.bytes), true, [](const Logs& figures) { return figures; });
      });
    });
  });
  return {std::exp(logs[0]), std::exp(logs[1]), std::exp(logs[2]), std::exp(logs[3]), std::exp(logs[4])};
}

std::vector<std::string> SramTable::cells() const {
  std::vector<std::string> names;
  for (const auto& entry : cells_) names.push_back(entry.first);
  return names;
}

}  // namespace attnvp::energy
