// Firmware of control processors of kind `riscv`: the ELF file and the parameters of its core.
#pragma once

#include <memory>
#include <string>

#include "models/control/riscv/control_core.h"
#include "models/control/riscv_processor/config.h"

namespace attnvp::riscv {

std::string program_path(const RiscvConfig& config);
// Reads the file once; throws ElfError.
std::shared_ptr<const ElfFile> open_program(const RiscvConfig& config);
CoreConfig core_config(const RiscvConfig& config, std::uint32_t cluster);
// Reason why the machine cannot run the program; empty if it can.
std::string program_problem(const RiscvConfig& config);

}  // namespace attnvp::riscv
