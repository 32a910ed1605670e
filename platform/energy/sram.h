// Scratch RAMs as CACTI 7 has them: energy of an access, leakage, area and access time of any capacity, number of banks
// and width, from a table of its results (configs/energy/sram-cacti7.csv) that is dense where its choice of an
// organisation changes.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace attnvp::energy {

struct SramShape {
  double node_nm = 22;
  std::string cell = "itrs-hp";  // transistors of cells and periphery
  double bytes = 0;              // all banks together
  double banks = 1;
  double width_bits = 256;  // of one access
};

struct SramFigures {
  double read_pj = 0, write_pj = 0;  // of one access of all its bits
  double leakage_mw_per_bank = 0;
  double area_mm2 = 0;  // all banks together
  double access_ns = 0;
};

class SramTable {
 public:
  // Throws config::ConfigError with file and line.
  explicit SramTable(const std::string& path);
  // The one that comes with the program, read once.
  static const SramTable& cacti();

  // Straight lines between logarithms: in capacity, then banks, then width, then node. Outside of the table its last
  // slope goes on, except in the number of banks; nodes are the table's or between them. Throws config::ConfigError
  // for a cell type or a node that it lacks.
  SramFigures at(const SramShape& shape) const;
  std::vector<std::string> cells() const;
  double smallest_node_nm() const;

 private:
  static constexpr std::size_t kFigures = 5;
  using Logs = std::array<double, kFigures>;
  using Curve = std::map<double, Logs>;  // of the logarithm of what varies
  static Logs between(const Curve& curve, double at, bool beyond);

  // cell -> node -> width -> banks -> bytes
  std::map<std::string, std::map<double, std::map<double, std::map<double, Curve>>>> table_;
};

}  // namespace attnvp::energy
