#include "models/arith/isa.h"

#include <atomic>
#include <initializer_list>

#ifdef ATTNVP_HAS_AVX2
#include <cpuid.h>
#endif

namespace attnvp::arith {
namespace {

Isa best() {
  for (const Isa isa : {Isa::kAvx512, Isa::kAvx2}) {
    if (isa_available(isa)) return isa;
  }
  return Isa::kPortable;
}

std::atomic<Isa>& chosen() {
  static std::atomic<Isa> isa{best()};
  return isa;
}

}  // namespace

bool isa_available(Isa isa) {
  if (isa == Isa::kPortable) return true;
#ifdef ATTNVP_HAS_AVX2
  // Not all compilers accept the name "f16c" here: leaf 1, ECX bit 29.
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  const bool f16c = __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && ((ecx >> 29) & 1) != 0;
  const bool avx2 = f16c && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  if (isa == Isa::kAvx2) return avx2;
  return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
#else
  return false;
#endif
}

Isa current_isa() { return chosen().load(std::memory_order_relaxed); }

void set_isa(Isa isa) { chosen().store(isa_available(isa) ? isa : Isa::kPortable, std::memory_order_relaxed); }

}  // namespace attnvp::arith
