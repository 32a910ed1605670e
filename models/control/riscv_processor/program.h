// Firmware of control processors of kind `riscv`: the ELF file, the parameters of its core, and its untimed execution.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "models/control/config.h"
#include "models/control/control_processor/cpu.h"
#include "models/control/riscv/control_core.h"

namespace attnvp::riscv {

std::string program_path(const RiscvConfig& config);
// Reads the file once; throws ElfError.
std::shared_ptr<const ElfFile> open_program(const RiscvConfig& config);
HartConfig core_config(const RiscvConfig& config, std::uint32_t cluster);
// Reason why the machine cannot run the program; empty if it can.
std::string program_problem(const RiscvConfig& config);

// Untimed execution of a firmware program, without a platform. Its bus accesses go to a reader of the schedule.

// The program cannot continue: one sentence.
struct ProgramError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Runs the program to its end. Returns the cycles of its clock, without bus accesses. Throws ProgramError, also after
// `most_cycles`, and ElfError.
std::uint64_t run_untimed(const ElfFile& program, const HartConfig& config, hal::Cpu& cpu, std::uint64_t most_cycles,
                          Observer* observer = nullptr);

}  // namespace attnvp::riscv
