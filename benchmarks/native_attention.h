// Reference implementation of an attention layer on the host for `attnvp bench`: Eigen, FP32, one thread.
#pragma once

#include <cstddef>

namespace attnvp::bench {

struct NativeShape {
  std::size_t heads;  // batch x heads
  std::size_t seq_q, seq_kv, emb;
};

// O = softmax(Q K^T) V; row-major [heads, seq, emb]. Uses AVX2 and FMA if available.
void native_attention(const NativeShape& shape, const float* q, const float* k, const float* v, float* o);

}  // namespace attnvp::bench
