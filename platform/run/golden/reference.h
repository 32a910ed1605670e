// Results of operations in double precision, from operands in double precision or as a machine stores them. The chains
// of a layer (platform/run/chain.h) consist of them. The golden check of fused products is here too.
#pragma once

#include <cstdint>
#include <vector>

#include "platform/run/golden/golden.h"
#include "platform/run/golden/tensors.h"
#include "platform/workload/operations.h"
#include "platform/workload/workload.h"

namespace attnvp::job {

// Operands as in Tensors. `weights` of a matrix product are FP16 numbers, in place of k.
struct WideOperands {
  std::vector<double> q, k, v;
  std::vector<arith::Half> weights;
};

// One element of an operation by elements, a copy or a conversion. `z`: from the second tensor, if any.
double elementwise_result(hal::Opcode operation, double x, double z);

// Exact to double precision; element types do not matter.
std::vector<double> exact_result(const workload::Workload& operation, const WideOperands& operands);

// The operands are rounded to the element type, and so are scores, P and the result; sums are exact.
std::vector<arith::Half> rounded_result(const workload::Workload& operation, const Tensors& operands);

// Golden check of matrix products, with the row operations that are fused with them (bounds:
// platform/run/operations.h).

// Elements of the further operands of a fused product, without weights. They are FP16, behind each other in place of V;
// each is padded to whole bursts of 64 bytes.
struct FusedOperands {
  std::uint64_t gamma = 0, beta = 0, bias = 0, angles = 0, residual = 0;
  std::uint64_t all() const { return gamma + beta + bias + angles + residual; }
};
FusedOperands fused_operands_of(const workload::Gemm& product);
// The operands that there are, in that order: elements, with and without padding.
struct FusedOperand {
  std::uint64_t elements, padded;
};
std::vector<FusedOperand> list_of_fused(const workload::Gemm& product);

GoldenResult check_product(const workload::Gemm& product, const Tensors& operands,
                           const std::vector<arith::Half>& result, double factor);

}  // namespace attnvp::job
