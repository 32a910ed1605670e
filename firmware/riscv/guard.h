// Shared state of guarded bus accesses (cpu.cpp) and the trap handler (trap.cpp).
#pragma once

namespace attnvp::riscv {

enum class Guard : unsigned { kOff, kArmed, kFailed };
extern volatile Guard guard;
extern volatile bool push_failed;

}  // namespace attnvp::riscv
