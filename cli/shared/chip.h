// `attnvp describe MACHINE --area, --ert, --art`: what a machine takes of a chip, and its energies and areas in the
// form of Accelergy's reference tables, for Accelergy, Timeloop, and back: an ERT is what the key `energy` names, and a
// model takes both (platform/energy/accelergy.h).
#pragma once

#include <string>

#include "models/machine.h"

namespace attnvp::cli {

std::string area_text(const MachineConfig& machine);
std::string area_json(const MachineConfig& machine);
std::string area_svg(const MachineConfig& machine);
std::string ert_yaml(const MachineConfig& machine);
std::string art_yaml(const MachineConfig& machine);

}  // namespace attnvp::cli
