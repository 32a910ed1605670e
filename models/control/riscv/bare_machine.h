// Bare-metal RV32 machine: a hart, RAM and a core-local interruptor. The program ends and writes to the console through
// the host-target interface (HTIF) at its symbol `tohost`.
#pragma once

#include <cstdint>
#include <string>

#include "models/control/riscv/csr.h"
#include "models/control/riscv/elf_file.h"
#include "models/control/riscv/hart.h"

namespace attnvp::riscv {

class BareMachine final : private RiscvBus {
 public:
  static constexpr std::uint32_t kRamBase = 0x8000'0000, kRamBytes = 0x4000'0000;

  // Throws ElfError if the program does not fit or has no symbol `tohost`.
  explicit BareMachine(const ElfFile& program, const HartTiming& timing = {});

  struct ProgramResult {
    bool ended = false;      // through tohost; false: see `why`
    std::uint32_t code = 0;  // 0: passed
    std::string why;         // one clause
    std::string console;     // lines of printable characters (append_printable)
  };
  ProgramResult run(std::uint64_t most_cycles);
  Hart& hart() { return hart_; }

 private:
  bool read(std::uint32_t address, void* data, std::uint32_t bytes, std::uint64_t& cycle) override;
  bool write(std::uint32_t address, const void* data, std::uint32_t bytes, std::uint64_t& cycle) override;
  std::uint64_t time(std::uint64_t cycle) override { return cycle; }
  Stop run_to(std::uint64_t limit);
  bool answer(ProgramResult& result);  // handles a request in tohost; true: the program has ended

  const ElfFile& program_;
  std::uint32_t tohost_, fromhost_;
  RiscvMemory ram_{kRamBase, kRamBytes};
  Clint clint_;
  Hart hart_;
};

}  // namespace attnvp::riscv
