// Trap handler (trap.cpp): its state that guarded bus accesses (cpu.cpp) share, and console output.
#pragma once

namespace attnvp::riscv {

enum class Guard : unsigned { kOff, kArmed, kFailed };
extern volatile Guard guard;
extern volatile bool push_failed;

// Console output. The platform prints each line with its simulated time.

void print(const char* text);
void print_hex(unsigned value);

}  // namespace attnvp::riscv
