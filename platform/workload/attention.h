// Attention: softmax(Q K^T) V of `batch` x `heads` heads. Q: seq_q x emb, K: seq_kv x emb, V: seq_kv x value_emb, in
// elements. With grouped queries each of `kv_heads` heads of K and V serves heads / kv_heads consecutive heads of Q.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "firmware/hal/block_mask.h"
#include "firmware/hal/descriptor.h"
#include "firmware/hal/mask.h"
#include "models/arith/half.h"

namespace attnvp::workload {

constexpr std::size_t kMostContexts = 1024;

// One request of a batch. `pages` hold its cached and its new tokens.
struct Request {
  std::uint32_t new_tokens = 0, cached_tokens = 0;
  std::vector<std::uint32_t> pages;  // each holds `Attention::page` tokens; empty: pages are assigned automatically
  std::uint32_t tokens() const { return new_tokens + cached_tokens; }
};

// Term added to the scores, by the positions of query and key.
enum class Bias : std::uint8_t { kNone, kAlibi, kRelative, kTensor };

// Bias values, [batch, heads of Q, queries, keys]. An extent of 1 is broadcast.
struct BiasTensor {
  std::uint32_t extent[4] = {1, 1, 1, 1};
  std::vector<arith::Half> numbers;
  arith::Half at(std::uint32_t batch, std::uint32_t head, std::uint32_t query, std::uint32_t key) const {
    const std::uint32_t place[4] = {batch, head, query, key};
    std::size_t i = 0;
    for (int d = 0; d < 4; ++d) i = i * extent[d] + (extent[d] == 1 ? 0 : place[d]);
    return numbers[i];
  }
};

struct Attention {
  std::string name;
  std::uint32_t batch = 1;
  std::uint32_t heads = 0;
  std::uint32_t seq_q = 0;
  std::uint32_t seq_kv = 0;
  std::uint32_t emb = 0;                // per head
  std::uint32_t value_emb = 0;          // head width of V and O; 0: emb
  std::uint32_t kv_heads = 0;           // 0: heads
  std::vector<std::uint32_t> contexts;  // keys of each batch if they differ, K and V contiguous; seq_kv: most

  // Keys that a query attends to; default: all. `queries` is seq_q of one head of Q, folded or not.
  hal::Mask mask{};
  std::vector<std::uint32_t> map;    // block mask, used if mask.block is not 0: words of hal::BlockMask
  std::vector<std::uint32_t> valid;  // unpadded keys of each batch; empty: no padding
  Bias bias = Bias::kNone;
  std::shared_ptr<const BiasTensor> bias_tensor;    // set for Bias::kTensor
  std::uint32_t scale_block = 0;                    // INT8: tokens that share a scale; 0: one scale a head
  bool append = false;                              // K and V of new tokens are first appended to the cache
  bool appends_requests = true;                     // value of `append` for requests
  float scale = 1;                                  // of the scores
  hal::ElementType type = hal::ElementType::kFp16;  // of Q, K, V and P
  hal::ElementType out = hal::ElementType::kFp16;   // of O
  float soft_cap = 0;                               // applied to scaled scores: cap * tanh(score / cap); 0: none
  bool sink = false;                                // softmax sums have a term of each query head (sink_of)
  bool softmax = true;                              // false: no softmax between the two products, (Q.K^T).V
  std::vector<Request> requests;                    // in place of `batch` equal ones; contexts are then their tokens
  std::uint32_t page = 0;                           // tokens in a page of the cache; 0: no paging
  std::uint32_t cache_pages = 0;                    // pages in the cache; 0: as many as needed

  std::uint32_t heads_of_kv() const { return kv_heads > 0 ? kv_heads : heads; }
  bool ragged() const { return !contexts.empty(); }
  std::uint32_t context(std::uint32_t b) const { return ragged() ? contexts[b] : seq_kv; }
  bool typed() const { return type != hal::ElementType::kFp16 || out != hal::ElementType::kFp16; }
  // The firmware needs hal::Types in addition to the shapes.
  bool beyond_fp16() const { return typed() || soft_cap > 0 || value_emb > 0; }
  std::uint64_t query_elements() const;
  std::uint32_t queries_of(std::uint32_t b) const {
    return requests.empty() ? seq_q : group() * requests[b].new_tokens;
  }
  hal::Mask mask_of(std::uint32_t b) const;
  hal::BlockMask block_mask() const {
    return {map.empty() ? nullptr : map.data(), mask.block == 0 ? 0 : hal::map_stride(mask, seq_kv)};
  }
  std::uint32_t valid_keys(std::uint32_t b) const { return valid.empty() ? context(b) : valid[b]; }
  std::uint32_t visible_keys(std::uint32_t b, std::uint32_t token) const;
  // New tokens of batch b that are appended to the cache, and the keys before them.
  std::uint32_t new_tokens(std::uint32_t b) const {
    return requests.empty() ? seq_q / group() : requests[b].new_tokens;
  }
  std::uint32_t cached_tokens(std::uint32_t b) const {
    return requests.empty() ? mask.history : requests[b].cached_tokens;
  }
  std::uint64_t appended_rows() const;  // of K, all heads and batches
  std::uint32_t group() const { return folded_group > 0 ? folded_group : 1; }
  // Page tables of all batches, concatenated; pages in the cache; whether batches share pages.
  std::vector<std::uint32_t> page_table() const;
  std::uint32_t pages() const;
  bool shares_pages() const;
  std::uint64_t key_elements() const;                                       // of K, without unused slots in pages
  std::uint32_t values() const { return value_emb > 0 ? value_emb : emb; }  // columns of V and O
  std::uint64_t value_elements() const { return key_elements() / emb * values(); }
  std::uint64_t output_elements() const { return query_elements() / emb * values(); }
  std::uint64_t block_scales() const;    // INT8 with scale_block: scales of Q, K and V, all heads of K and V
  std::uint32_t folded_group = 0;        // after folded(): heads of Q whose rows form one head
  std::uint64_t visible_scores() const;  // unmasked scores of all batches and heads
  // Everything that results depend on except the name, as key=value words.
  std::string identity() const;
  std::string rules() const;  // of the mask and the scale: " causal=1 history=16"; may be empty
  // The same computation with heads_of_kv() heads, each with the queries of its group; Q and O have the same bytes.
  Attention folded() const;
};

// ALiBi slope of a head of Q (Press, Smith, Lewis 2022).
float alibi_slope(std::uint32_t head, std::uint32_t heads);
// Synthetic value for T5's learned bias of a bucket.
arith::Half relative_bias(std::uint32_t head, std::uint32_t bucket);
// Synthetic value for the learned sink of a query head: one more term e^sink of its softmax sums, without a key.
arith::Half sink_of(std::uint32_t head);
// Bias of query `query` and key `key` (queries count over all batches); added to the scaled score before rounding.
double bias_of(const Attention& attention, std::uint32_t head, std::uint32_t query, std::uint32_t key);

}  // namespace attnvp::workload
