// Untimed execution of a firmware program, without a platform. Its bus accesses go to a reader of the schedule.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>

#include "models/control/control_processor/cpu.h"
#include "models/control/riscv/control_core.h"

namespace attnvp::riscv {

// The program cannot continue: one sentence.
struct ProgramError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Runs the program to its end. Returns the cycles of its clock, without bus accesses. Throws ProgramError, also after
// `most_cycles`, and ElfError.
std::uint64_t run_untimed(const ElfFile& program, const CoreConfig& config, hal::Cpu& cpu, std::uint64_t most_cycles,
                          Observer* observer = nullptr);

}  // namespace attnvp::riscv
