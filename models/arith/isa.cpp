#include "models/arith/isa.h"

#include <atomic>

#ifdef ATTNVP_HAS_AVX2
#include <cpuid.h>
#endif

namespace attnvp::arith {
namespace {

Isa best() { return isa_available(Isa::kAvx2) ? Isa::kAvx2 : Isa::kPortable; }

std::atomic<Isa>& chosen() {
  static std::atomic<Isa> isa{best()};
  return isa;
}

}  // namespace

bool isa_available(Isa isa) {
  if (isa == Isa::kPortable) return true;
#ifdef ATTNVP_HAS_AVX2
  // Not every compiler knows the name "f16c" here: leaf 1, ECX bit 29.
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  const bool f16c = __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && ((ecx >> 29) & 1) != 0;
  return f16c && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2");
#else
  return false;
#endif
}

Isa current_isa() { return chosen().load(std::memory_order_relaxed); }

void set_isa(Isa isa) { chosen().store(isa_available(isa) ? isa : Isa::kPortable, std::memory_order_relaxed); }

}  // namespace attnvp::arith
