// Results of operations in double precision, from operands in double precision or as a machine stores them. The chains
// of a layer (platform/run/chain.h) consist of them.
#pragma once

#include <vector>

#include "platform/run/golden/tensors.h"
#include "platform/workload/workload.h"

namespace attnvp::job {

// Operands as in Tensors. `weights` of a matrix product are FP16 numbers, in place of k.
struct WideOperands {
  std::vector<double> q, k, v;
  std::vector<arith::Half> weights;
};

// Exact to double precision; element types do not matter.
std::vector<double> exact_result(const workload::Workload& operation, const WideOperands& operands);

// The operands are rounded to the element type, and so are scores, P and the result; sums are exact.
std::vector<arith::Half> rounded_result(const workload::Workload& operation, const Tensors& operands);

}  // namespace attnvp::job
