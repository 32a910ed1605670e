// Energy model of a machine: energies, leakage and area from the structure of its parts at its technology node.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/machine.h"
#include "platform/machine/energy.h"
#include "platform/machine/energy/technology.h"

namespace attnvp::energy {

// Components of the energy table that count time instead of actions. Their actions are module names, one per cycle.
constexpr const char* kLeakage = "attnvp.leakage";
constexpr const char* kClock = "attnvp.clock";

// Whether the action counts time independent of activity: leakage, DRAM background.
bool stands_for_time(const std::string& component, const std::string& action);

// All modules of one name, or those of one core if cores differ, of all clusters or, if clusters differ, of one. Values
// are for one module.
struct ModelPart {
  std::string module;  // name in the module tree, "l1"
  std::optional<std::uint32_t> cluster{}, core{};
  std::uint64_t count = 1;
  bool in_core = false, in_cluster = false;  // in_cluster is also true for parts of cores
  double area_mm2 = 0;
  Figure leakage_mw, clock_pj;  // of one cycle
  std::string title() const;    // "l1", "core0.mac", "cluster1.l1"
};

class MachineModel {
 public:
  MachineModel(const MachineConfig& machine, const Technology& technology);

  const std::vector<ModelPart>& parts() const { return parts_; }
  // Parts and the space between them.
  double area_mm2() const { return area_mm2_; }
  double spare_mm2() const;   // between the parts
  Figure area_range() const;  // in mm2, by the range of the share that parts cover
  // Sets the energy of every action, leakage, clock and DRAM background; modules of clusters and cores: those of core
  // `core` of cluster `cluster`.
  void fill(config::EnergyTable& table, std::uint32_t cluster = 0, std::uint32_t core = 0) const;

 private:
  struct MemoryModel {
    Figure read_pj, write_pj;  // of a 16-bit word
    Figure leakage_mw;
    double area_mm2 = 0;
  };
  Figure pj(const char* name) const { return technology_.pj(name, nm_, volts_); }
  MemoryModel sram(double bytes, double banks, double width_bits) const;
  MemoryModel registers(double bytes) const;
  // Multipliers and adders of a PE, and the operands that it takes in a cycle.
  struct MacMultipliers {
    double mm2 = 0, operand_bits = 0;
  };
  MacMultipliers multipliers(const MacConfig& mac) const;
  ModelPart logic(const char* module, double mm2, double register_bits) const;
  MemoryModel l1(const ScratchpadConfig& l1) const;
  void lay_out_core(const CoreConfig& core, std::optional<std::uint32_t> cluster, std::optional<std::uint32_t> number);
  void lay_out_cluster(const MachineConfig& cluster, std::optional<std::uint32_t> number);
  MemoryModel l0(const CoreConfig& core) const;
  void fill_dram(config::EnergyTable& table) const;
  void lay_out();
  Figure words_over(double mm) const;  // a 16-bit word along a wire

  const MachineConfig machine_;
  const Technology& technology_;
  const TechnologyConfig keys_;
  double nm_, volts_;
  Technology::ActionEnergies replacing_;
  std::vector<ModelPart> parts_;
  double area_mm2_ = 0;
  std::vector<double> cluster_mm2_;  // of each cluster, or of one if all are equal
  MemoryModel l2_;
};

// The table completed by the model; unchanged if it is no model.
config::EnergyTable resolved(config::EnergyTable table, const MachineConfig& machine);

// Technology data of a model; for a table, which has no areas, the default data.
const Technology& technology_of(const config::EnergyTable& table);

}  // namespace attnvp::energy
