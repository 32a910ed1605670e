// Entry of a hart: runs the scheduler of its cluster.
#include "firmware/runtime/dataflow.h"

extern "C" int main() {
  unsigned hart;
  asm volatile("csrr %0, mhartid" : "=r"(hart));
  // Dummy reference: on RISC-V the bus needs no state.
  auto& cpu = *reinterpret_cast<attnvp::hal::Cpu*>(4);
  attnvp::firmware::boot(cpu, hart);
  return 0;
}
