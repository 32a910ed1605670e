// Firmware from a file: --firmware, and `describe` of one.
#pragma once

#include <string>
#include <vector>

#include "models/machine.h"

namespace attnvp::cli {

// The machine's control processors run that ELF file; with none, what the machine says. Its dataflows are those that
// there are from now on.
void use_firmware(MachineConfig& machine, const std::string& elf);
// Those of an ELF file, whatever the machine.
void use_program(const std::string& elf);
bool is_program(const std::string& path);  // an ELF file

// In the place of a dataflow that the firmware does not have and nobody asked for.
std::string default_dataflow(const std::string& name);

}  // namespace attnvp::cli
