// The check of a streaming graph's output against softmax(Q K^T) V in double precision.
//
// The machine computes in FP32 (u = 2^-24). With a_i the greatest |q_i| |k_j| (2-norms) of row i, a score has an error
// of at most d u a_i, and subtracting a maximum, at once or in steps that telescope, adds at most 4 u a_i. A term of
// the sum or of the output then carries at most 4 roundings per score of its row (exponential, scale, multiply, add)
// and a few more; numerator and denominator both do. Hence, with e_i = 2 (d + 4) u a_i + 2 (4 N + 8) u and P the exact
// softmax:
//   |O_id - exact| <= (e^e_i - 1) sum_j P_ij |v_jd| <= (e^e_i - 1) max_j |v_jd|.
// Whatever the scores, their exact softmax gives a mean of values, so that the bound is also
//   max_j v_jd - min_j v_jd + (e^r - 1) max_j |v_jd|, r = 2 (4 N + 8) u, of the roundings behind the scores.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/job/random_tensors.h"

namespace attnvp::stream {

struct GoldenResult {
  bool checked = false;
  bool passed = false;
  double max_abs_error = 0;
  std::uint64_t failures = 0;  // elements beyond their tolerance
  // The element furthest from the reference in units of its tolerance.
  std::uint32_t row = 0, column = 0;
  double expected = 0, actual = 0, tolerance = 0;

  std::string to_string() const;
};

// `output` is N x D.
GoldenResult check_stream(const job::AttentionShape& shape, const job::AttentionTensors& tensors,
                          const std::vector<float>& output);

}  // namespace attnvp::stream
