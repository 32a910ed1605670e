#include "models/control/riscv/instruction_log.h"

#include <fmt/format.h>

namespace attnvp::riscv {

std::string log_line(std::uint32_t hart_number, const Hart& hart, const Executed& e) {
  const Decoded& d = *e.instruction;
  std::string line = d.length == 2 ? fmt::format("core {:3}: 3 {:#010x} ({:#06x})", hart_number, e.pc, d.bits)
                                   : fmt::format("core {:3}: 3 {:#010x} ({:#010x})", hart_number, e.pc, d.bits);
  if (d.rd != kNowhere) line += fmt::format(" {:<3} {:#010x}", fmt::format("x{}", d.rd), hart.reg(d.rd));
  if (e.bytes > 0) {
    line += fmt::format(" mem {:#010x}", e.address);
    const std::uint32_t value = e.bytes == 4 ? e.value : e.value & ((1U << (8 * e.bytes)) - 1);
    if (e.store) line += fmt::format(" 0x{:0{}x}", value, 2 * e.bytes);
  }
  return line + "\n";
}

}  // namespace attnvp::riscv
