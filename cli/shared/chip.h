// Area and energy of a machine: `attnvp describe MACHINE --area, --ert, --art`. ERT and ART have Accelergy's format,
// for Accelergy and Timeloop. The key `energy` accepts an ERT; a model accepts both
// (platform/machine/energy/technology.h).
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
