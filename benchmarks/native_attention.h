// The attention layer as one would compute it on the host: Eigen, FP32, one thread. The yardstick of `attnvp bench`.
#pragma once

#include <cstddef>

namespace attnvp::bench {

struct NativeShape {
  std::size_t heads;  // batch x heads
  std::size_t seq_q, seq_kv, emb;
};

// O = softmax(Q K^T) V; row-major [heads, seq, emb]. Uses AVX2 and FMA where the host has them.
void native_attention(const NativeShape& shape, const float* q, const float* k, const float* v, float* o);

}  // namespace attnvp::bench
