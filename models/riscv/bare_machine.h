// A hart, its RAM and its interruptor, and nothing else: what runs any bare-metal RV32 program. The program ends, and
// writes to the console, through the host-target interface (HTIF) at its symbol `tohost`.
#pragma once

#include <cstdint>
#include <string>

#include "models/riscv/clint.h"
#include "models/riscv/elf_file.h"
#include "models/riscv/hart.h"

namespace attnvp::riscv {

class BareMachine final : private Bus {
 public:
  static constexpr std::uint32_t kRamBase = 0x8000'0000, kRamBytes = 0x4000'0000;

  // Throws ElfError where the program does not fit, or has no `tohost` to end at.
  explicit BareMachine(const ElfFile& program, const Timing& timing = {});

  struct Result {
    bool ended = false;      // by tohost; otherwise `why`
    std::uint32_t code = 0;  // 0: passed
    std::string why;         // one clause
    std::string console;     // lines of printable characters (console.h)
  };
  Result run(std::uint64_t most_cycles);
  Hart& hart() { return hart_; }

 private:
  bool read(std::uint32_t address, void* data, std::uint32_t bytes, std::uint64_t& cycle) override;
  bool write(std::uint32_t address, const void* data, std::uint32_t bytes, std::uint64_t& cycle) override;
  std::uint64_t time(std::uint64_t cycle) override { return cycle; }
  Stop run_to(std::uint64_t limit);
  bool answer(Result& result);  // to what is in tohost; true: that was the end

  const ElfFile& program_;
  std::uint32_t tohost_, fromhost_;
  Memory ram_{kRamBase, kRamBytes};
  Clint clint_;
  Hart hart_;
};

}  // namespace attnvp::riscv
