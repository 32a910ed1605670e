// Energy per action, in picojoules, from a table in the form of Accelergy's energy reference tables (ERT).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace attnvp::config {

class EnergyTable {
 public:
  // pJ of one action of one instance: `energy` plus `energy_per_kib` times the instance's size in KiB.
  // Throws ConfigError naming the table's file and what it holds when there is no such entry: a count without
  // an energy is an error, not 0.
  double pj(std::string_view component, std::string_view action, std::uint64_t instance_size_bytes) const;
  bool has(std::string_view component, std::string_view action) const;

  const std::string& source() const { return source_; }  // the file, for messages and reports

 private:
  friend EnergyTable load_energy(const std::string& name_or_path);

  struct Action {
    double pj = 0;
    double pj_per_kib = 0;
  };
  const Action* find(std::string_view component, std::string_view action) const;

  std::string source_;
  std::map<std::string, std::map<std::string, Action, std::less<>>, std::less<>> components_;
};

// A name under configs/energy or a path. Throws ConfigError with file and line.
EnergyTable load_energy(const std::string& name_or_path);

}  // namespace attnvp::config
