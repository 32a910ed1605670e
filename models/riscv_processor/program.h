// The firmware of control processors of kind `riscv`: where it is, and the core that it runs on.
#pragma once

#include <memory>
#include <string>

#include "models/riscv/control_core.h"
#include "models/riscv_processor/config.h"

namespace attnvp::riscv {

// The ELF file that the machine names.
std::string program_path(const RiscvConfig& config);
// Read once; throws ElfError.
std::shared_ptr<const ElfFile> open_program(const RiscvConfig& config);
CoreConfig core_config(const RiscvConfig& config, std::uint32_t cluster);
// Why the machine cannot have it; empty if it can.
std::string program_problem(const RiscvConfig& config);

}  // namespace attnvp::riscv
