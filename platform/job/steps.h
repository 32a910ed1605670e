// Steps of a layer as jobs of their own (platform/config/step.h): where their tensors are, and what they are held to.
#pragma once

#include <cstdint>
#include <vector>

#include "firmware/hal/job.h"
#include "models/arith/half.h"
#include "platform/config/network.h"
#include "platform/job/golden.h"
#include "platform/job/job.h"

namespace attnvp::job {

// How many elements a step has of Q, K and V: a product Q and K; a norm rows, gamma and beta; a sum two tensors; a
// rotary embedding rows, and cosines and sines of each.
struct Operands {
  std::uint64_t q, k, v;
};
Operands operands_of(const config::Network& step);

// Those, but for a softmax rows of scores as Q.
Tensors random_operands(const config::Network& step, std::uint64_t seed);

// Where the rows of scores go, and where the result is: [rows, columns].
std::uint64_t operand_address(const config::Network& step, const hal::Layer& layer);
std::uint64_t result_address(const config::Network& step, const hal::Layer& layer);

// A product within |C - C_ref| <= a + h (|C_ref| + a) + 2^-25, a = 1.01 K u |q_i| |k_j| for K products added in FP32 in
// any order (u = 2^-24, h = 2^-11). A row of softmax within the unit's relative error
// and a rounding to FP16 (models/arith/softmax.h). The others within what their roundings to FP32 add up to
// (models/arith/layer.h), and one to FP16, h |y| + 2^-25; with u' = 1.01 u:
//   norm      |gamma| r u' (|m| + 5 |x - m|) + u' |y|, of m, r and the products: mean, 1 / root
//   sum       u' |y|
//   f(x), f(x) z    u' |y| and 1e-14 |x| [|z|] of f, u' |y| of the product
//   rotary    2 u' (|x c| + |y s|)
// Of other types the product is that of the numbers that are kept, times `factor`: two roundings to FP32 more, and one
// to BF16 where that is the result's type.
GoldenResult check_step(const config::Network& step, const Tensors& operands, const std::vector<arith::Half>& result,
                        float factor = 1);

}  // namespace attnvp::job
