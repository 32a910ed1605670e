// Calls and returns, recognised by their instructions: jumps that link ra or t0, and jumps through these registers.
#pragma once

#include <cstdint>

#include "models/control/riscv/hart.h"

namespace attnvp::riscv {

enum class Jump : std::uint8_t { kNone, kCall, kReturn };

inline Jump jump_of(const Executed& e) {
  constexpr std::uint32_t kRa = 1, kT0 = 5;
  const auto links = [](std::uint32_t reg) { return reg == kRa || reg == kT0; };
  const Decoded& d = *e.instruction;
  if (!e.retired) return Jump::kCall;  // a trap calls its handler
  if (d.op == Op::kMret) return Jump::kReturn;
  if (d.op == Op::kJal && links(d.rd)) return Jump::kCall;
  if (d.op != Op::kJalr) return Jump::kNone;
  return links(d.rd) ? Jump::kCall : links(d.rs1) ? Jump::kReturn : Jump::kNone;
}

}  // namespace attnvp::riscv
