// The console: a character device, whose lines the platform shows with their time.
#pragma once

namespace attnvp::riscv {

void print(const char* text);
void print_hex(unsigned value);

}  // namespace attnvp::riscv
