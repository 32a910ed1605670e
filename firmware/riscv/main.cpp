// A hart's program: the scheduler of its cluster.
#include "firmware/runtime/boot.h"

extern "C" int main() {
  unsigned hart;
  asm volatile("csrr %0, mhartid" : "=r"(hart));
  // There is no such object: on a RISC-V the bus is loads and stores.
  auto& cpu = *reinterpret_cast<attnvp::hal::Cpu*>(4);
  attnvp::firmware::boot(cpu, hart);
  return 0;
}
