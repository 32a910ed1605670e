// What the modules of a machine counted, with the energy of it.
#pragma once

#include <cstdint>
#include <string>
#include <systemc>
#include <vector>

#include "platform/config/energy.h"

namespace attnvp::job {

// What one module counted.
struct CounterValue {
  std::string module, name, unit, description;
  std::uint64_t value = 0;
  double energy_pj = 0;           // 0 where the counter carries none
  std::string component, action;  // in the energy table; empty likewise
};

// The part of a machine that a component of the energy table stands for: "dram" for "attnvp.dram".
std::string part_of(const std::string& component);

// From one walk over the module tree. Throws config::ConfigError for a count that has no energy in the table.
std::vector<CounterValue> read_counters(sc_core::sc_object& root, const config::EnergyTable& energy);

}  // namespace attnvp::job
