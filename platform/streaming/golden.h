// Golden check of a streaming graph's output against softmax(Q K^T) V in double precision.
//
// The machine computes in FP32 (u = 2^-24). Let a_i be the greatest |q_i| |k_j| (2-norms) of row i. The error of a
// score is at most d u a_i; subtracting a maximum, at once or in telescoping steps, adds at most 4 u a_i. Each term of
// the sum or the output has at most 4 roundings per score of its row (exponential, scale, multiply, add) and a few
// more, in numerator and denominator. Hence, with e_i = 2 (d + 4) u a_i + 2 (4 N + 8) u and P the exact softmax:
//   |O_id - exact| <= (e^e_i - 1) sum_j P_ij |v_jd| <= (e^e_i - 1) max_j |v_jd|.
// For any scores the exact softmax is a mean of values, so the error is also at most
//   max_j v_jd - min_j v_jd + (e^r - 1) max_j |v_jd|, r = 2 (4 N + 8) u, from the roundings after the scores.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/run/golden/random_tensors.h"

namespace attnvp::stream {

struct GoldenResult {
  bool checked = false;
  bool passed = false;
  double max_abs_error = 0;
  std::uint64_t failures = 0;  // elements beyond their tolerance
  // Element with the greatest error / tolerance.
  std::uint32_t row = 0, column = 0;
  double expected = 0, actual = 0, tolerance = 0;

  std::string to_string() const;
};

// `output` is N x D.
GoldenResult check_stream(const job::AttentionShape& shape, const job::AttentionTensors& tensors,
                          const std::vector<float>& output);

}  // namespace attnvp::stream
