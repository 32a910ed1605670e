// `attnvp describe MACHINE --area`: what a machine takes of a chip.
#pragma once

#include <string>

#include "models/machine.h"

namespace attnvp::cli {

std::string area_text(const MachineConfig& machine);
std::string area_json(const MachineConfig& machine);
std::string area_svg(const MachineConfig& machine);

}  // namespace attnvp::cli
