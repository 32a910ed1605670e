// Deterministic FP16 test tensors. Element i depends only on (seed, i) and is computed from integers, so the bytes do
// not depend on host, compiler or order of generation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/arith/half.h"
#include "platform/run/golden/golden.h"

namespace attnvp::job {

// Approximately normal (sum of eight uniform 16-bit integers), mean 0, at most 4.9 stddev from it.
arith::Half random_half(std::uint64_t seed, std::uint64_t index, double stddev);
std::vector<arith::Half> random_tensor(std::uint64_t seed, std::size_t count, double stddev);

struct AttentionTensors {
  std::vector<arith::Half> q, k, v;
};
constexpr double kScoreSpread = 2.0;
// Scores q.k have a standard deviation of about score_spread. Q includes the factor 1/sqrt(width), as the platform
// computes softmax(Q K^T) V without a scale.
AttentionTensors random_attention(const AttentionShape& shape, std::uint64_t seed, double score_spread = kScoreSpread);

}  // namespace attnvp::job
