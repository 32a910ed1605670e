// Kernel, included once per instruction set. Each inclusion renames Eigen's namespace, so that the linker does not
// merge code of different instruction sets.
#include <Eigen/Core>

#include "benchmarks/native_attention.h"

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

}  // namespace attnvp::bench
