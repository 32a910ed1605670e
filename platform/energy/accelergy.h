// Tables of Accelergy's (ERT, ART) as part of a model: which of their components stand for which of the machine's.
#pragma once

#include <map>
#include <string>

#include "platform/config/document.h"
#include "platform/config/energy.h"

namespace attnvp::energy {

// What takes the place of the model's own, by names of ours.
struct Replaced {
  std::map<std::string, std::map<std::string, config::EnergyTable::Action>> energies;  // component, action
  std::map<std::string, double> um2;  // of all of a module's instances of that kind in one of its owners
};

// Areas by component, as an ART has them. Throws ConfigError with file and line.
std::map<std::string, double> load_areas(const std::string& path);

// By the keys `ert`, `art` and `components` of a model file; what `known` has and they do not name stays. Without
// `components`, everything in the tables whose name is ours.
void replace_by_tables(const config::Document& document, const YAML::Node& model, Replaced& known);

}  // namespace attnvp::energy
