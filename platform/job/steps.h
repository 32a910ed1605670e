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

// Elements of the operands: Q and K of a product (with nothing in V), rows of scores, as Q, of a softmax.
Tensors random_operands(const config::Network& step, std::uint64_t seed);

// Where the rows of scores go, and where the result is: [rows, columns].
std::uint64_t operand_address(const config::Network& step, const hal::Layer& layer);
std::uint64_t result_address(const config::Network& step, const hal::Layer& layer);

// A product within |C - C_ref| <= a + h (|C_ref| + a) + 2^-25, a = 1.01 K u |q_i| |k_j| for K products added in FP32 in
// any order (u = 2^-24, h = 2^-11); beyond FP16 it is an infinity. A row of softmax within the unit's relative error and
// a rounding to FP16 (models/arith/softmax.h).
GoldenResult check_step(const config::Network& step, const Tensors& operands, const std::vector<arith::Half>& result);

}  // namespace attnvp::job
