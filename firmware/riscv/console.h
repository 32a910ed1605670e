// Console output. The platform prints each line with its simulated time.
#pragma once

namespace attnvp::riscv {

void print(const char* text);
void print_hex(unsigned value);

}  // namespace attnvp::riscv
