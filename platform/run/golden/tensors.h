// Tensors of a layer: random tests, and their quantised form as stored in DRAM, with its numeric values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "firmware/hal/job.h"
#include "models/arith/half.h"
#include "platform/run/golden/golden.h"
#include "platform/workload/workload.h"

namespace attnvp::job {

// Deterministic FP16 test tensors. Element i depends only on (seed, i) and is computed from integers, so the bytes do
// not depend on host, compiler or order of generation.

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

// Requests that share a page get the values of the first of them. `rows`: K or V of all batches, head after head.
template <typename Number>
void share_pages(const workload::Attention& n, std::size_t columns, std::vector<Number>& rows) {
  struct PageOwner {
    std::size_t start, tokens;  // start of a batch's first head, in elements; tokens of the batch
    std::uint32_t token;        // first token of the page
  };
  std::vector<std::optional<PageOwner>> owners(n.pages());
  const std::vector<std::uint32_t> table = n.page_table();
  std::size_t start = 0, entry = 0;
  for (std::uint32_t b = 0; b < n.batch; ++b) {
    const std::size_t tokens = n.context(b);
    for (std::uint32_t token = 0; token < tokens; token += n.page, ++entry) {
      std::optional<PageOwner>& owner = owners.at(table[entry]);
      if (!owner) {
        owner = {start, tokens, token};
        continue;
      }
      const std::size_t some = std::min<std::size_t>(n.page, tokens - token);
      for (std::size_t head = 0; head < n.heads_of_kv(); ++head) {
        const auto from = static_cast<std::ptrdiff_t>(owner->start + (head * owner->tokens + owner->token) * columns);
        const auto to = static_cast<std::ptrdiff_t>(start + (head * tokens + token) * columns);
        std::copy_n(rows.begin() + from, some * columns, rows.begin() + to);
      }
    }
    start += tokens * n.heads_of_kv() * columns;
  }
}

// Quantiser: a layer's tensors in its element type.
//
// Input is FP16, rounded once to nearest even; values out of range become the type's greatest number (BF16: at most the
// greatest of FP16). INT8 stores x / scale, with one scale for each of Q, K and V of every head of K and V: the
// greatest magnitude over 127. Heads of Q that share K and V share their scale. With `scale_block`, each block of that
// many rows of a head has its own scale (of Q: rows of all heads that share K and V, concatenated).
//
// Weights of a type of their own have a scale for each group of a column: of MXFP4 the power of two by the OCP MX
// specification 1.0, otherwise the greatest magnitude over the type's greatest number (INT4: 7), in FP16; 1 for zeros.

// Scales of whole tensors in INT8 that are known beforehand, as after a calibration; 0: from the data, as above.
struct StaticScales {
  float q = 0, k = 0, v = 0;
};

struct Tensors {
  std::vector<arith::Half> q, k, v;  // [batch, heads, seq, emb]
  StaticScales scales{};
};

struct Quantised {
  std::vector<unsigned char> q, k, v;  // as in DRAM, without pages
  Tensors numbers;                     // stored values, without the scales
  std::vector<HeadFactors> factors;    // of every head of K and V; empty: only the layer's scale
  // Block scales, in place of `factors`: of each head's Q (times the layer's scale), K and V.
  struct LayerScales {
    std::vector<float> q, k, v;
  };
  std::vector<LayerScales> blocks;
};
Quantised quantised(const workload::Workload& network, const Tensors& tensors);
// A conversion of rows (hal::Opcode::kConvert): scale of its result, 1 unless that is INT8; and its result as the
// host's numbers, from the stored elements.
float scale_of_result(const workload::RowOperation& conversion, const Tensors& tensors);
std::vector<arith::Half> converted_numbers(hal::ElementType type, float scale, const void* stored, std::size_t count);
// The numbers that a product multiplies for these weights: unchanged without a type of their own.
std::vector<arith::Half> stored_weights(const workload::Gemm& product, const std::vector<arith::Half>& weights);

// Batches of equal lengths, in one piece; with lengths of their own, one by one. Each has the layer's or `kept`'s
// factors and scales, and refers to `attention`.
struct AttentionPart {
  AttentionShape shape;
  std::size_t query, key, value, output;  // first elements
  std::uint32_t first_batch;
};
std::vector<AttentionPart> parts_of(const workload::Attention& attention, const Quantised& kept);

// Scales in the form that firmware reads. `one_pass`: P.V is not divided by the sum of P, so P's scale is included.
std::vector<std::uint32_t> block_scales(const workload::Attention& attention,
                                        const std::vector<Quantised::LayerScales>& blocks);
std::vector<hal::HeadScales> head_scales(const std::vector<HeadFactors>& factors, hal::ElementType type, bool one_pass);

}  // namespace attnvp::job
