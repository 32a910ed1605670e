// Energy table: picojoules per action, in the format of Accelergy's energy reference tables (ERT).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/machine/error.h"

namespace attnvp::config {

class EnergyTable {
 public:
  struct EnergyAction {
    double pj = 0;
    double pj_per_kib = 0;
    double low = 1, high = 1;  // range of the energy, as factors
    // Cycle to which `pj` refers for actions by time (`global_cycle_seconds`); 0: not given.
    double cycle_seconds = 0;
  };

  // True for a file without table: energies are computed from technology data and the machine
  // (platform/machine/energy/machine_model.h).
  bool is_model() const { return model_; }
  void set(const std::string& component, const std::string& action, const EnergyAction& energy) {
    components_[component][action] = energy;
  }

  // Energy in pJ of one action: `energy` plus `energy_per_kib` times the instance's size in KiB. Throws ConfigError,
  // naming file and known entries, if there is no entry: a missing energy is an error, not 0.
  double pj(std::string_view component, std::string_view action, std::uint64_t instance_size_bytes) const;
  bool has(std::string_view component, std::string_view action) const;
  bool has(std::string_view component) const { return components_.find(component) != components_.end(); }
  // Range of an action's energy; throws like pj().
  EnergyAction range(std::string_view component, std::string_view action) const;
  using Components = std::map<std::string, std::map<std::string, EnergyAction, std::less<>>, std::less<>>;
  const Components& components() const { return components_; }

  // Tables of single cores, for cores that differ; of_module() selects one by the module's hierarchical name.
  // `of_cluster`: cores of a cluster, for clusters that differ; their first core's table is the cluster's. 0: the
  // tables hold for every cluster.
  void set_cores(std::vector<EnergyTable> cores, std::size_t of_cluster = 0) {
    cores_ = std::move(cores);
    cores_of_cluster_ = of_cluster;
  }
  const std::vector<EnergyTable>& cores() const { return cores_; }
  std::size_t cores_of_cluster() const { return cores_of_cluster_; }
  const EnergyTable& of_module(std::string_view module) const;

  const std::string& source() const { return source_; }  // the file, for messages and reports

 private:
  friend EnergyTable load_energy(const std::string& name_or_path);

  const EnergyAction* find(std::string_view component, std::string_view action) const;
  const EnergyAction& entry(std::string_view component, std::string_view action) const;

  std::string source_;
  bool model_ = false;
  Components components_;
  std::vector<EnergyTable> cores_;
  std::size_t cores_of_cluster_ = 0;
};

// A name under configs/energy or a path. Throws ConfigError with file and line.
EnergyTable load_energy(const std::string& name_or_path);

// Common parts of Accelergy's energy and area reference tables (ERT, ART).
// A component's name without its instance range: chip.pe for "chip.pe[1..168]".
std::string without_instances(const std::string& name);
// Throws ConfigError for a version with another table format.
void check_accelergy_version(const std::string& version, const Origin& origin, const char* table);

}  // namespace attnvp::config
