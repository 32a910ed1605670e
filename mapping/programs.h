// The firmware that there is: the dataflows compiled into this program, or those of an ELF file in their place, which
// tells of itself in a section. Readers of command streams run whichever it is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "firmware/runtime/dataflow.h"
#include "models/control_processor/cpu.h"
#include "models/machine.h"

namespace attnvp::mapping {

// From now on, the dataflows of the program that a machine's control processors run: that of its key control.firmware,
// where they are of kind riscv. Throws riscv::ElfError for a file that is none, or tells nothing of itself.
void use_firmware_of(const MachineConfig& machine);

const std::vector<const firmware::Dataflow*>& dataflows();
const firmware::Dataflow* find_dataflow(const std::string& name);  // nullptr: there is none

// Runs a cluster's firmware against that bus, at once. Throws riscv::ProgramError where it cannot go on.
void run_firmware(hal::Cpu& cpu, std::uint32_t cluster);

}  // namespace attnvp::mapping
