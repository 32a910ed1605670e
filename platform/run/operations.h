// Matrix products and row operations as jobs (platform/workload/operations.h): tensor sizes and addresses, and the
// golden check.
#pragma once

#include <cstdint>
#include <vector>

#include "firmware/hal/job.h"
#include "models/arith/half.h"
#include "platform/run/golden/golden.h"
#include "platform/run/job.h"
#include "platform/workload/workload.h"

namespace attnvp::job {

// Elements of the operands in place of Q, K and V. A product: A, its weights and its further operands; a norm: rows
// (and those of the residual behind them), gamma and beta; a sum: two tensors; a rotary embedding: rows, and their
// cosines and sines.
struct Operands {
  std::uint64_t q, k, v;
};
Operands operands_of(const workload::Workload& operation);

// True for operations described by hal::RowStep: all row operations except a softmax.
bool takes_row_step(const workload::Workload& operation);

// A softmax has rows of scores as Q.
Tensors random_operands(const workload::Workload& operation, std::uint64_t seed);

// Address of the input rows, and of the result: [rows, columns], with residual [2, rows, columns].
std::uint64_t operand_address(const workload::Workload& operation, const hal::Layer& layer);
std::uint64_t result_address(const workload::Workload& operation, const hal::Layer& layer);

// Compares each element with double precision, within these bounds (u = 2^-24, h = 2^-11):
// - a product: |C - C_ref| <= a + h (|C_ref| + a) + 2^-25, a = 1.01 K u |q_i| |k_j| for K products added in FP32 in any
//   order
//   With operations fused: each is computed in double from the one before; the error of what it takes, e, adds
//   norm |e_i| |k_j| by rows (2-norms) to a product, 1.13 e to f(x), 1.13 e (|z| + e_z) + |f(x)| e_z to f(x) z,
//   e_x |c| + e_y |s| to a rotary embedding and e to a sum, besides the bounds below. |f'| <= 1.13 for all f
// - a softmax: the unit's relative error and one rounding to FP16 (models/arith/softmax.h)
// - the others: their FP32 roundings (models/arith/layer.h) and one to FP16, h |y| + 2^-25; with u' = 1.01 u:
//   norm      |gamma| r u' (|m| + 5 |x - m|) + u' |y|, with m, r: mean, 1 / root; roundings of m, r and the products
//   sum       u' |y|
//   f(x), f(x) z    u' |y| and 1e-14 |x| [|z|] of f, u' |y| of the product
//   rotary    2 u' (|x c| + |y s|)
//   conversion  2 u' |y|, the type's rounding (models/arith/number.h), and one to the host's FP16
// Other types: the product of the stored numbers times `factor`; two more FP32 roundings, and one to BF16 for that
// result type.
GoldenResult check_operation(const workload::Workload& operation, const Tensors& operands,
                             const std::vector<arith::Half>& result, float factor = 1);

}  // namespace attnvp::job
