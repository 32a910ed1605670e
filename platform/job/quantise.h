// A layer's tensors in its element type, as the machine has them in DRAM, and the numbers that those stand for.
//
// Q, K and V come as FP16 and are rounded once, to nearest even; what a type cannot hold becomes its greatest number
// (BF16: the greatest that FP16 has, too). INT8 has a scale for each of Q, K and V of every head of K and V, the
// greatest magnitude over 127: x is kept as x / scale. Heads of Q that share K and V share their scale, too. With
// `scale_block` so many rows of a head have one of their own (of Q: of all heads that share K and V, one behind
// another).
#pragma once

#include <vector>

#include "firmware/hal/job.h"
#include "platform/config/network.h"
#include "platform/job/golden.h"

namespace attnvp::job {

struct Tensors {
  std::vector<arith::Half> q, k, v;  // [batch, heads, seq, emb]
};

struct Quantised {
  std::vector<unsigned char> q, k, v;  // as in DRAM, but for pages
  Tensors numbers;                     // what is kept, without the scales
  std::vector<HeadFactors> factors;    // of every head of K and V; empty: none but the layer's own
  // With scales of blocks, in their place: of each head Q's (times the layer's), K's and V's.
  struct Blocks {
    std::vector<float> q, k, v;
  };
  std::vector<Blocks> blocks;
};
Quantised quantised(const config::Network& network, const Tensors& tensors);

// The scales as firmware gets them. `one_pass`: P.V is not divided by the sum of P, whose scale therefore counts.
std::vector<std::uint32_t> block_scales(const config::Network& network, const std::vector<Quantised::Blocks>& blocks);
std::vector<hal::HeadScales> head_scales(const std::vector<HeadFactors>& factors, hal::ElementType type, bool one_pass);

}  // namespace attnvp::job
