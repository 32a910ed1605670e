// What the modules of a machine counted, with the energy of it.
#pragma once

#include <cstdint>
#include <string>
#include <systemc>
#include <vector>

#include "firmware/hal/descriptor.h"
#include "models/module.h"
#include "models/technology/config.h"
#include "platform/config/energy.h"

namespace attnvp::job {

// What one module counted.
struct CounterValue {
  std::string module, name, unit, description;
  std::uint64_t value = 0;
  double energy_pj = 0;               // 0 where the counter carries none
  double low_pj = 0, high_pj = 0;     // its range
  std::string component{}, action{};  // in the energy table; empty likewise
};

// The part of a machine that a component of the energy table stands for: "dram" for "attnvp.dram".
std::string part_of(const std::string& component);

// Whether an action's energy is to be known: papers' tables leave whole components out.
bool has_energy(const config::EnergyTable& energy, const Action& action);

// The table with what a multiply-accumulate of that type costs, where it says so.
config::EnergyTable for_type(const config::EnergyTable& table, hal::ElementType type);

// Cycles in which a module leaks and is clocked.
struct PoweredCycles {
  std::uint64_t leaking = 0, clocked = 0;
};
PoweredCycles powered_cycles(const Module& module, const TechnologyConfig& technology, std::uint64_t cycles);

// What costs energy by the cycle, whatever a module does: component, action, and how many of the cycles.
struct Standing {
  const char *component, *name, *description;
  std::string action;
  std::uint64_t PoweredCycles::*cycles;
};
// Of a module, where the table has it.
std::vector<Standing> standing_of(const Module& module, const config::EnergyTable& energy);

// From one walk over the module tree. Throws config::ConfigError for a count that has no energy in the table.
std::vector<CounterValue> read_counters(sc_core::sc_object& root, const config::EnergyTable& energy);
// With what stands by the cycle, after so many of them.
std::vector<CounterValue> read_counters(const std::vector<Module*>& modules, const config::EnergyTable& energy,
                                        const TechnologyConfig& technology, std::uint64_t cycles);

}  // namespace attnvp::job
