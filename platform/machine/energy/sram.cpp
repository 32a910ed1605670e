#include "platform/machine/energy/sram.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <iterator>

#include "platform/machine/catalog.h"
#include "platform/machine/csv.h"
#include "platform/machine/words.h"

namespace attnvp::energy {

namespace {
const std::vector<std::string> kColumns = {"node_nm",  "cell",     "banks",    "width_bits",
                                           "bytes",    "read_pj",  "write_pj", "leakage_mw_per_bank",
                                           "area_mm2", "access_ns"};
}  // namespace

SramTable::SramTable(const std::string& path) {
  std::vector<config::CsvLine> lines = config::read_csv_table(path);
  if (lines.front().cells != kColumns) {
    config::fail(lines.front().origin, fmt::format("the columns are to be {}", fmt::join(kColumns, ",")));
  }
  for (auto line = std::next(lines.begin()); line != lines.end(); ++line) {
    smallest_node_nm_ = std::min(smallest_node_nm_, config::positive_number(*line, 0));
    cells_[line->cells[1]].lines.push_back(std::move(*line));
  }
}

const SramTable::Curves& SramTable::curves_of(CellRows& cell) const {
  std::call_once(cell.is_read, [&cell] {
    for (const config::CsvLine& line : cell.lines) {
      const auto number = [&](std::size_t column) { return std::log(config::positive_number(line, column)); };
      Logs figures{};
      for (std::size_t i = 0; i < kFigures; ++i) figures[i] = number(5 + i);
      cell.curves[number(0)][number(3)][number(2)][number(4)] = figures;
    }
    cell.lines.clear();
  });
  return cell.curves;
}

const SramTable& SramTable::cacti() {
  static const SramTable table(config::config_root() + "/energy/sram-cacti7.csv");
  return table;
}

SramTable::Logs SramTable::between(const Curve& curve, double at, bool beyond) {
  auto above = curve.lower_bound(at);
  if (curve.size() == 1 || (!beyond && (above == curve.begin() || above == curve.end()))) {
    return (above == curve.end() ? std::prev(above) : above)->second;
  }
  if (above == curve.end()) --above;
  if (above == curve.begin()) ++above;
  const auto below = std::prev(above);
  const double share = (at - below->first) / (above->first - below->first);
  Logs result{};
  for (std::size_t i = 0; i < kFigures; ++i) {
    result[i] = below->second[i] + share * (above->second[i] - below->second[i]);
  }
  return result;
}

SramFigures SramTable::at(const SramShape& shape) const {
  const auto cell = cells_.find(shape.cell);
  if (cell == cells_.end()) {
    throw config::ConfigError(fmt::format("SRAM cells of type {} are unknown{}", config::in_quotes(shape.cell),
                                          config::hint(shape.cell, cells())));
  }
  const Curves& nodes = curves_of(cell->second);
  constexpr double kSlack = 1e-9;
  const double node = std::log(shape.node_nm);
  if (node < nodes.begin()->first - kSlack || node > nodes.rbegin()->first + kSlack) {
    throw config::ConfigError(fmt::format("the table of SRAMs has {} cells from {:g} nm to {:g} nm; found {:g} nm",
                                          shape.cell, std::exp(nodes.begin()->first), std::exp(nodes.rbegin()->first),
                                          shape.node_nm));
  }
  Curve by_node;
  for (const auto& [of_node, widths] : nodes) {
    Curve by_width;
    for (const auto& [width, banks] : widths) {
      Curve by_banks;
      for (const auto& [of_banks, sizes] : banks) {
        by_banks[of_banks] = between(sizes, std::log(shape.bytes), true);
      }
      by_width[width] = between(by_banks, std::log(shape.banks), false);
    }
    by_node[of_node] = between(by_width, std::log(shape.width_bits), true);
  }
  const Logs logs = between(by_node, node, false);
  return {std::exp(logs[0]), std::exp(logs[1]), std::exp(logs[2]), std::exp(logs[3]), std::exp(logs[4])};
}

std::vector<std::string> SramTable::cells() const {
  std::vector<std::string> names;
  for (const auto& entry : cells_) names.push_back(entry.first);
  return names;
}

}  // namespace attnvp::energy
