// Firmware from a file: --firmware, and `describe` of one.
#pragma once

#include <string>
#include <vector>

#include "models/machine.h"
#include "platform/config/network.h"
#include "platform/schedule/programs.h"

namespace attnvp::cli {

// The machine's control processors run that ELF file; with none, what the machine says. Returns their firmware.
const schedule::FirmwareImage& use_firmware(MachineConfig& machine, const std::string& elf);
bool is_program(const std::string& path);  // an ELF file

// Where none is asked for: `mas`, the first that the firmware has instead, or what makes the step of a layer.
std::string default_dataflow(const std::string& asked, const config::Network& network, const MachineConfig& machine);

}  // namespace attnvp::cli
