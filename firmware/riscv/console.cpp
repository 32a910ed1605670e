#include <cstdint>

#include "firmware/hal/hart.h"
#include "firmware/riscv/trap.h"

namespace attnvp::riscv {

namespace {
void put(char c) { *reinterpret_cast<volatile std::uint32_t*>(hal::kHartDevices + hal::kHartConsole) = c; }
}  // namespace

void print(const char* text) {
  for (; *text != '\0'; ++text) put(*text);
}

void print_hex(unsigned value) {
  print("0x");
  for (int shift = 28; shift >= 0; shift -= 4) put("0123456789abcdef"[value >> shift & 15]);
}

}  // namespace attnvp::riscv
