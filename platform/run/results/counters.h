// Counters of the modules of a machine, with their energy.
#pragma once

#include <cstdint>
#include <string>
#include <systemc>
#include <vector>

#include "firmware/hal/descriptor.h"
#include "models/machine.h"
#include "models/sim/module.h"
#include "platform/machine/energy.h"

namespace attnvp::job {

// One counter of a module.
struct CounterValue {
  std::string module, name, unit, description;
  std::uint64_t value = 0;
  double energy_pj = 0;               // 0 if the counter has no energy
  double low_pj = 0, high_pj = 0;     // range of the energy
  std::string component{}, action{};  // in the energy table; empty if the counter has no energy
};

// Part of a machine for a component of the energy table: "dram" for "attnvp.dram".
std::string part_of(const std::string& component);

// Whether the energy table must contain an action; tables from papers omit whole components.
bool has_energy(const config::EnergyTable& energy, const Action& action);

// The table with the energy of a multiply-accumulate of that type, if given.
config::EnergyTable for_type(const config::EnergyTable& table, hal::ElementType type);

// Cycles during which a module leaks and is clocked.
struct PoweredCycles {
  std::uint64_t leaking = 0, clocked = 0;
};
PoweredCycles powered_cycles(const Module& module, const TechnologyConfig& technology, std::uint64_t cycles);

// Energy by the cycle, independent of activity: component, action, and the cycles that count.
struct Standing {
  const char *component, *name, *description;
  std::string action;
  std::uint64_t PoweredCycles::*cycles;
};
// For a module, if the table has its component.
std::vector<Standing> standing_of(const Module& module, const config::EnergyTable& energy);

// Visits the module tree. Throws config::ConfigError for a count without energy in the table.
std::vector<CounterValue> read_counters(sc_core::sc_object& root, const config::EnergyTable& energy);
// Includes energy by the cycle, over `cycles`.
std::vector<CounterValue> read_counters(const std::vector<Module*>& modules, const config::EnergyTable& energy,
                                        const TechnologyConfig& technology, std::uint64_t cycles);

}  // namespace attnvp::job
