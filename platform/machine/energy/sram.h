// SRAM scratchpad data from CACTI 7: access energy, leakage, area and access time for any capacity, number of banks and
// width. The table (configs/energy/sram-cacti7.csv) is dense where CACTI changes the organisation.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/machine/document.h"

namespace attnvp::energy {

struct SramShape {
  double node_nm = 22;
  std::string cell = "itrs-hp";  // transistor type of cells and periphery
  double bytes = 0;              // total of all banks
  double banks = 1;
  double width_bits = 256;  // of one access
};

struct SramFigures {
  double read_pj = 0, write_pj = 0;  // of one access, all bits
  double leakage_mw_per_bank = 0;
  double area_mm2 = 0;  // total of all banks
  double access_ns = 0;
};

class SramTable {
 public:
  // Throws config::ConfigError with file and line; at() does for the rows that it reads.
  explicit SramTable(const std::string& path);
  // The default table, read once.
  static const SramTable& cacti();

  // Interpolates linearly in logarithms: in capacity, then banks, width and node. Beyond the table the last slope
  // continues, except for banks; nodes must be within the table. Throws config::ConfigError for a cell type or node
  // that it lacks.
  SramFigures at(const SramShape& shape) const;
  std::vector<std::string> cells() const;
  double smallest_node_nm() const { return smallest_node_nm_; }

 private:
  static constexpr std::size_t kFigures = 5;
  using Logs = std::array<double, kFigures>;
  using Curve = std::map<double, Logs>;  // by the logarithm of the parameter

  // Rows of one node, cell, number of banks and width, which are read when they are first needed.
  struct SramRows {
    std::vector<std::pair<std::string_view, int>> lines;  // with their numbers
    std::once_flag is_read;
    Curve by_bytes;
  };
  SramRows& rows_of(const config::CsvLine& line);
  const Curve& by_bytes(SramRows& rows) const;
  template <class Values, class FiguresOf>
  static Logs between(Values& values, double at, bool beyond, const FiguresOf& figures_of);

  std::string source_, text_;
  // By cell, node, width and banks, the numbers as logarithms.
  mutable std::map<std::string, std::map<double, std::map<double, std::map<double, SramRows>>>> cells_;
  double smallest_node_nm_ = std::numeric_limits<double>::infinity();
};

}  // namespace attnvp::energy
