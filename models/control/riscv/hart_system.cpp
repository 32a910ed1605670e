// Rare operations of a hart: reset, traps, CSRs, fences, lines of the instruction log.
#include <fmt/format.h>

#include "models/control/riscv/hart.h"

namespace attnvp::riscv {

void Hart::reset(std::uint32_t pc) {
  for (std::uint32_t& x : x_) x = 0;
  pc_ = pc;
  const std::uint32_t lines = csrs_.mip;
  std::uint32_t number = 0;
  csrs_.read(CsrNumber::kMhartid, {}, number);
  csrs_ = Csrs(number);
  csrs_.mip = lines;
  cycle_ = retired_ = stalled_ = slept_ = traps_ = 0;
  classes_ = {};
  asked_ = false;
}

void Hart::trap(std::uint32_t cause, std::uint32_t value, bool interrupt) {
  ++traps_;
  cycle_ += timing_.taken_branch;
  pc_ = csrs_.trap(cause, interrupt, pc_, value);
  if (observer_ != nullptr) observer_->trapped(*this, cause, interrupt);
}

void Hart::take_interrupt() {
  const std::uint32_t cause = csrs_.interrupt();
  if (cause != 0) trap(cause, 0, true);
}

bool Hart::csr(const Decoded& d) {
  const bool immediate = d.op >= Op::kCsrrwi;
  const std::uint32_t operand = immediate ? d.rs1 : x_[d.rs1];
  const bool writes = d.op == Op::kCsrrw || d.op == Op::kCsrrwi || d.rs1 != 0;
  const auto number = static_cast<std::uint32_t>(d.imm);
  Now at = now();
  std::uint32_t old = 0;
  if (!csrs_.read(number, at, old)) return false;
  std::uint32_t value = operand;
  if (d.op == Op::kCsrrs || d.op == Op::kCsrrsi) value = old | operand;
  if (d.op == Op::kCsrrc || d.op == Op::kCsrrci) value = old & ~operand;
  at.cycle += d.cycles;
  at.retired += 1;
  if (writes && !csrs_.write(number, value, at)) return false;
  x_[d.rd] = old;
  return true;
}

void Hart::fence(const Decoded& d) {
  std::uint32_t address = 0;
  const std::uint64_t asked = cycle_;
  const bool ok = bus_.fence(cycle_, address);
  stalled_ += cycle_ - asked;
  if (!ok) return trap(TrapCause::kStoreFault, address);
  cycle_ += d.cycles;
  ++retired_;
  ++classes_.system;
  pc_ += d.length;
}

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
