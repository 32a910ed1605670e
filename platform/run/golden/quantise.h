// Quantiser: a layer's tensors in its element type, as stored in DRAM, and their numeric values.
//
// Input is FP16, rounded once to nearest even; values out of range become the type's greatest number (BF16: at most the
// greatest of FP16). INT8 stores x / scale, with one scale for each of Q, K and V of every head of K and V: the
// greatest magnitude over 127. Heads of Q that share K and V share their scale. With `scale_block`, each block of that
// many rows of a head has its own scale (of Q: rows of all heads that share K and V, concatenated).
#pragma once

#include <vector>

#include "firmware/hal/job.h"
#include "platform/run/golden/golden.h"
#include "platform/workload/workload.h"

namespace attnvp::job {

struct Tensors {
  std::vector<arith::Half> q, k, v;  // [batch, heads, seq, emb]
};

struct Quantised {
  std::vector<unsigned char> q, k, v;  // as in DRAM, without pages
  Tensors numbers;                     // stored values, without the scales
  std::vector<HeadFactors> factors;    // of every head of K and V; empty: only the layer's scale
  // Block scales, in place of `factors`: of each head's Q (times the layer's scale), K and V.
  struct Blocks {
    std::vector<float> q, k, v;
  };
  std::vector<Blocks> blocks;
};
Quantised quantised(const workload::Workload& network, const Tensors& tensors);

// Scales in the form that firmware reads. `one_pass`: P.V is not divided by the sum of P, so P's scale is included.
std::vector<std::uint32_t> block_scales(const workload::Attention& attention,
                                        const std::vector<Quantised::Blocks>& blocks);
std::vector<hal::HeadScales> head_scales(const std::vector<HeadFactors>& factors, hal::ElementType type, bool one_pass);

}  // namespace attnvp::job
