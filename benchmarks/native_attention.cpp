// Compiled once per instruction set. Each object renames Eigen's namespace, so that the linker does not merge code of
// different instruction sets.
#if ATTNVP_V3
#define Eigen EigenV3
#define ATTNVP_KERNEL native_attention_v3
#else
#define Eigen EigenPortable
#define ATTNVP_KERNEL native_attention_portable
#endif
#include "benchmarks/native_attention.h"

#include <Eigen/Core>

namespace attnvp::bench {

void ATTNVP_KERNEL(const NativeShape& s, const float* q, const float* k, const float* v, float* o) {
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Input = Eigen::Map<const Matrix>;
  const auto rows = static_cast<Eigen::Index>(s.seq_q);
  const auto columns = static_cast<Eigen::Index>(s.seq_kv);
  const auto width = static_cast<Eigen::Index>(s.emb);
  Matrix scores(rows, columns);
  for (std::size_t h = 0; h < s.heads; ++h) {
    const Input qh(q + h * s.seq_q * s.emb, rows, width);
    const Input kh(k + h * s.seq_kv * s.emb, columns, width);
    const Input vh(v + h * s.seq_kv * s.emb, columns, width);
    Eigen::Map<Matrix> oh(o + h * s.seq_q * s.emb, rows, width);
    scores.noalias() = qh * kh.transpose();
    for (Eigen::Index r = 0; r < rows; ++r) {
      auto row = scores.row(r).array();
      row = (row - row.maxCoeff()).exp();
      row /= row.sum();
    }
    oh.noalias() = scores * vh;
  }
}

#if !ATTNVP_V3
void native_attention_v3(const NativeShape& shape, const float* q, const float* k, const float* v, float* o);

void native_attention(const NativeShape& shape, const float* q, const float* k, const float* v, float* o) {
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    native_attention_v3(shape, q, k, v, o);
  } else {
    native_attention_portable(shape, q, k, v, o);
  }
}
#endif

}  // namespace attnvp::bench
