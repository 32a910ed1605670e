#define Eigen EigenPortable
#define ATTNVP_KERNEL native_attention_portable
#include "benchmarks/native_attention_kernel.h"

namespace attnvp::bench {

void native_attention_v3(const NativeShape& shape, const float* q, const float* k, const float* v, float* o);

void native_attention(const NativeShape& shape, const float* q, const float* k, const float* v, float* o) {
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    native_attention_v3(shape, q, k, v, o);
  } else {
    native_attention_portable(shape, q, k, v, o);
  }
}

}  // namespace attnvp::bench
