// A machine's energies and areas in the form of Accelergy's reference tables (ERT, ART), for Accelergy, Timeloop, and
// back: an ERT is what the key `energy` names, and a model takes both (platform/energy/accelergy.h).
#pragma once

#include <string>

#include "models/machine.h"

namespace attnvp::cli {

std::string ert_yaml(const MachineConfig& machine);
std::string art_yaml(const MachineConfig& machine);

}  // namespace attnvp::cli
