// A firmware program run at once, without a platform: its accesses go to whoever reads the command stream.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>

#include "models/control_processor/cpu.h"
#include "models/riscv/control_core.h"

namespace attnvp::riscv {

// It cannot go on: one sentence.
struct ProgramError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Runs to its end; the cycles of its clock that took, bus accesses not counted. Throws ProgramError, also after
// `most_cycles`; ElfError.
std::uint64_t run_untimed(const ElfFile& program, const CoreConfig& config, hal::Cpu& cpu, std::uint64_t most_cycles,
                          Observer* observer = nullptr);

}  // namespace attnvp::riscv
