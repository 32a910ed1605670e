// A machine's energies, leakage and area by the model: what its parts are made of, at its technology node.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/machine.h"
#include "platform/config/energy.h"
#include "platform/energy/technology.h"

namespace attnvp::energy {

// Components of the energy table that stand for time, not for what a module does: their actions are modules' names, one
// per cycle.
constexpr const char* kLeakage = "attnvp.leakage";
constexpr const char* kClock = "attnvp.clock";

// Whether the action's energy is that of a time, whatever is done in it: leakage, DRAM's background.
bool stands_for_time(const std::string& component, const std::string& action);

// All modules of one name, or those of one core of every cluster, where cores are not alike; figures are of one of
// them.
struct Part {
  std::string module;  // its name in the module tree: "l1"
  std::optional<std::uint32_t> core{};
  std::uint64_t count = 1;
  bool in_core = false, in_cluster = false;  // a core is in a cluster, too
  double area_mm2 = 0;
  Figure leakage_mw, clock_pj;  // of a cycle
  std::string title() const;    // "l1", "core0.mac"
};

class MachineModel {
 public:
  MachineModel(const MachineConfig& machine, const Technology& technology);

  const std::vector<Part>& parts() const { return parts_; }
  // Parts and what the floorplan leaves between them.
  double area_mm2() const { return area_mm2_; }
  double spare_mm2() const;  // between the parts
  // Energy of every action, leakage, clock and DRAM's background; of modules of cores, those of core `core`.
  void fill(config::EnergyTable& table, std::uint32_t core = 0) const;

 private:
  struct Memory {
    Figure read_pj, write_pj;  // of a 16-bit word
    Figure leakage_mw;
    double area_mm2 = 0;
  };
  Figure pj(const char* name) const { return technology_.pj(name, nm_, volts_); }
  Memory sram(double bytes, double banks, double width_bits) const;
  Memory registers(double bytes) const;
  Part logic(const char* module, double mm2, double register_bits) const;
  void lay_out_core(const CoreConfig& core, std::optional<std::uint32_t> number);
  Memory l0(const CoreConfig& core) const;
  void fill_dram(config::EnergyTable& table) const;
  void lay_out();
  Figure words_over(double mm) const;  // a 16-bit word along a wire

  const MachineConfig machine_;
  const Technology& technology_;
  const TechnologyConfig keys_;
  double nm_, volts_;
  std::vector<Part> parts_;
  double area_mm2_ = 0, cluster_mm2_ = 0;
  Memory l1_, l2_;
};

// The table with everything that the model says of the machine; as it is, where it is no model.
config::EnergyTable resolved(config::EnergyTable table, const MachineConfig& machine);

// Of a model, its own figures; of a table, which has no areas, those that come with the program.
const Technology& technology_of(const config::EnergyTable& table);

}  // namespace attnvp::energy
