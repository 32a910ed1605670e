// Selection of the kernels' variant by instruction set. All variants give the same bits; tests compare them.
#pragma once

namespace attnvp::arith {

// Each level includes the previous one. kAvx2: AVX2, FMA and F16C; kAvx512: AVX-512 F and DQ.
enum class Isa { kPortable, kAvx2, kAvx512 };

bool isa_available(Isa isa);
Isa current_isa();      // the best available one, unless set_isa chose another
void set_isa(Isa isa);  // for tests; not while kernels run in other threads

}  // namespace attnvp::arith

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define ATTNVP_HAS_AVX2 1
#define ATTNVP_AVX2 __attribute__((target("avx2,fma,f16c,bmi,bmi2")))
#define ATTNVP_AVX512 __attribute__((target("avx2,fma,f16c,bmi,bmi2,avx512f,avx512dq")))
#endif
