// Accelergy tables (ERT, ART) as part of an energy model, and the mapping of their components to those of the machine.
#pragma once

#include <map>
#include <string>

#include "platform/machine/document.h"
#include "platform/machine/energy.h"

namespace attnvp::energy {

// Values that override the model, by AttnVP component names.
struct Replaced {
  std::map<std::string, std::map<std::string, config::EnergyTable::EnergyAction>> energies;  // component, action
  std::map<std::string, double> um2;  // area of all instances of a component in one owner
};

// Areas by component from an ART. Throws ConfigError with file and line.
std::map<std::string, double> load_areas(const std::string& path);

// Applies keys `ert`, `art` and `components` of a model file; other entries of `known` are unchanged. Without
// `components`, applies all table entries with AttnVP names.
void replace_by_tables(const config::Document& document, const config::YamlNode& model, Replaced& known);

}  // namespace attnvp::energy
