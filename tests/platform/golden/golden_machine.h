// Arithmetic of the machine without simulation, and its golden check.
#pragma once

#include <algorithm>
#include <vector>

#include "models/arith/matmul.h"
#include "models/arith/online.h"
#include "models/arith/softmax.h"
#include "platform/run/golden/golden.h"
#include "platform/run/golden/tensors.h"

namespace attnvp::job {

using arith::Half;

inline std::vector<Half> machine(const AttentionShape& s, const AttentionTensors& t) {
  std::vector<Half> out(s.query_elements()), scores(s.queries * s.keys);
  arith::Workspace workspace;
  for (std::size_t bh = 0; bh < s.batch * s.heads; ++bh) {
    const std::size_t q = bh * s.queries * s.width, kv = bh * s.keys * s.width;
    const arith::MatrixView<Half> score_matrix{scores.data(), s.keys};
    arith::matmul({s.queries, s.keys, s.width, true}, {t.q.data() + q, s.width}, {t.k.data() + kv, s.width}, {},
                  score_matrix, workspace);
    for (std::size_t i = 0; i < s.queries; ++i) {
      arith::softmax_row(&scores[i * s.keys], &scores[i * s.keys], s.keys, workspace);
    }
    arith::matmul({s.queries, s.width, s.keys, false}, {scores.data(), s.keys}, {t.v.data() + kv, s.width}, {},
                  arith::MatrixView<Half>{out.data() + q, s.width}, workspace);
  }
  return out;
}

inline GoldenResult check(const AttentionShape& s, const AttentionTensors& t, const std::vector<Half>& out,
                          std::size_t keys_per_tile = 0) {
  return check_attention(s, t.q.data(), t.k.data(), t.v.data(), out.data(), {keys_per_tile});
}

// As above in one pass over tiles of keys, with an optional error: sums that are not scaled, or not once.
constexpr std::size_t kMistakenRow = 1;  // its greatest score comes late
enum class Mistake { kNone, kNeverScaled, kOnceUnscaled, kLostTile };
inline std::vector<Half> one_pass(const AttentionShape& s, const AttentionTensors& t, std::size_t tile,
                                  Mistake mistake = Mistake::kNone) {
  std::vector<Half> out(s.query_elements()), p(tile);
  arith::Workspace workspace;
  for (std::size_t row = 0; row < s.batch * s.heads * s.queries; ++row) {
    const std::size_t kv = row / s.queries * s.keys * s.width;
    std::vector<float> sums(s.width + 1), part(s.width + 1);
    Half m = 0;
    for (std::size_t j = 0; j < s.keys; j += tile) {
      const std::size_t n = std::min(tile, s.keys - j);
      arith::matmul({1, n, s.width, true}, {t.q.data() + row * s.width, s.width},
                    {t.k.data() + kv + j * s.width, s.width}, {}, arith::MatrixView<Half>{p.data(), n}, workspace);
      const Half before = m, top = arith::row_max(p.data(), n);
      m = j == 0 ? top : arith::running_max(before, top);
      part[s.width] = arith::exp_row(p.data(), p.data(), n, m);
      arith::matmul({1, s.width, n, false}, {p.data(), n}, {t.v.data() + kv + j * s.width, s.width}, {},
                    arith::MatrixView<float>{part.data(), s.width}, workspace);
      float scale = j == 0 ? 0 : arith::exp_scale(before, m);
      if (mistake == Mistake::kNeverScaled) scale = 1;
      if (mistake == Mistake::kOnceUnscaled && row == kMistakenRow) scale = 1;
      if (mistake == Mistake::kLostTile && row == kMistakenRow && j == tile) continue;
      arith::scale_add_row(sums.data(), scale, part.data(), sums.size());
    }
    arith::divide_row(sums.data(), sums[s.width], &out[row * s.width], s.width);
  }
  return out;
}

}  // namespace attnvp::job
