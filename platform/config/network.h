// Attention layers: which shapes the machine computes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "firmware/hal/descriptor.h"
#include "firmware/hal/mask.h"
#include "platform/config/schema.h"

namespace attnvp::config {

constexpr double kLongestSequence = 4194304;
constexpr std::size_t kMostContexts = 1024;

// One of a batch: new tokens behind those in the cache, and the pages that hold all of them.
struct Request {
  std::uint32_t new_tokens = 0, cached_tokens = 0;
  std::vector<std::uint32_t> pages;  // of `Network::page` tokens; none: where there is room
  std::uint32_t tokens() const { return new_tokens + cached_tokens; }
};

// What of a layer is run by itself: attention, or one of its steps (step.h). Of a model: attention, all of a layer's
// operations one after the other (operations.h), or those of all layers.
enum class Step : std::uint8_t { kAttention, kGemm, kSoftmax };
enum class Scope : std::uint8_t { kAttention, kLayer, kModel };

// softmax(Q.K^T).V for `batch` x `heads` pairs of Q: seq_q x emb, K and V: seq_kv x emb, in elements (FP16). With
// grouped queries each of `kv_heads` heads of K and V serves heads / kv_heads consecutive heads of Q.
struct Network {
  std::string name;
  std::uint32_t batch = 1;
  std::uint32_t heads = 0;
  std::uint32_t seq_q = 0;
  std::uint32_t seq_kv = 0;
  std::uint32_t emb = 0;                // per head
  std::uint32_t value_emb = 0;          // of V and O; 0: emb
  std::uint32_t kv_heads = 0;           // 0: heads
  std::vector<std::uint32_t> contexts;  // keys of each batch, where they differ (seq_kv is then the most); K and V of
                                        // the batches lie one behind the other

  // Which keys a query attends to; without a rule all of them. `queries` is seq_q of one head of Q, folded or not.
  hal::Mask mask{};
  float scale = 1;  // of the scores
  hal::ElementType type = hal::ElementType::kFp16;  // of Q, K, V and P
  hal::ElementType out = hal::ElementType::kFp16;   // of O
  float soft_cap = 0;  // of the scaled scores: cap * tanh(score / cap); 0: none
  bool softmax = true;  // between the two matmuls; otherwise they are a chain: (Q.K^T).V
  std::vector<Request> requests;  // in place of `batch` equal ones; contexts are their tokens then
  std::uint32_t page = 0;         // tokens in a page of the cache; 0: it has none
  std::uint32_t cache_pages = 0;  // in it; 0: as many as are needed
  std::uint32_t layers = 1;  // of the model, all like this one: one is run
  std::uint32_t hidden = 0, ffn = 0;  // widths of the model between its operations and in its feed-forward network
  bool gated = false;                 // whose first product is two of them
  Step step = Step::kAttention;
  Scope scope = Scope::kAttention;

  std::uint32_t heads_of_kv() const { return kv_heads > 0 ? kv_heads : heads; }
  bool ragged() const { return !contexts.empty(); }
  std::uint32_t context(std::uint32_t b) const { return ragged() ? contexts[b] : seq_kv; }
  bool typed() const { return type != hal::ElementType::kFp16 || out != hal::ElementType::kFp16; }
  // Firmware must be told of more than shapes of FP16 (hal::Types).
  bool beyond_fp16() const { return typed() || soft_cap > 0 || value_emb > 0; }
  std::uint64_t query_elements() const;  // of Q
  std::uint32_t queries_of(std::uint32_t b) const { return requests.empty() ? seq_q : group() * requests[b].new_tokens; }
  hal::Mask mask_of(std::uint32_t b) const;  // of that batch
  std::uint32_t group() const { return folded_group > 0 ? folded_group : 1; }
  // Pages of the batches, one behind the other, and how many the cache has; none without pages.
  std::vector<std::uint32_t> page_table() const;
  std::uint32_t pages() const;
  std::uint64_t key_elements() const;  // of K, without room in pages
  std::uint32_t values() const { return value_emb > 0 ? value_emb : emb; }  // columns of V and O
  std::uint64_t value_elements() const { return key_elements() / emb * values(); }     // of V
  std::uint64_t output_elements() const { return query_elements() / emb * values(); }  // of O
  std::uint32_t folded_group = 0;      // folded: heads of Q that a head's rows are of
  std::uint64_t visible_scores() const;  // of all batches and heads: what no mask hides
  // All that results depend on, the name apart: as key=value words.
  std::string identity() const;
  std::string rules() const;  // of the mask and the scale: " causal=1 history=16", empty without
  // The same computation with heads_of_kv() heads, whose queries are those of the whole group: the same bytes of Q and
  // O.
  Network folded() const;
};

// What a model is at: taking new tokens in, or making one of each request.
enum class Phase : std::uint8_t { kPrefill, kDecode };

// Element types by name, in the order of the names; of O also "as the layer's".
enum class TensorType : std::uint8_t { kFp16, kBf16, kFp8E4M3, kFp8E5M2, kInt8 };
enum class OutputType : std::uint8_t { kAuto, kFp16, kBf16 };

// What lies between the two matmuls.
enum class Between : std::uint8_t { kSoftmax, kNothing };

// The keys of a network file. `seq` stands for both lengths; seq_q and seq_kv override it.
struct NetworkKeys {
  Network network;
  std::uint32_t seq = 0;
  std::string contexts;
  std::uint32_t causal = 0, history = kNoHistory, gated = 0;
  std::string scale, soft_cap;
  Phase phase = Phase::kPrefill;
  Between between = Between::kSoftmax;
  TensorType type = TensorType::kFp16;
  OutputType out = OutputType::kAuto;
  static constexpr std::uint32_t kNoHistory = 0xFFFF'FFFF;
};
const Schema<NetworkKeys>& network_schema();

// The short names of inline shapes with the keys they stand for: {"B", "batch"}, {"H", "heads"}, ...
const std::vector<std::pair<std::string, std::string>>& inline_names();

// The layer for a batch of requests: a file with columns new_tokens, cached_tokens and, where the cache has pages,
// block_table. Throws ConfigError with file and line.
Network with_requests(const Network& network, const std::string& path);

// A name under configs/networks, a path, "hf:" and the path of a Hugging Face configuration, each with keys behind it
// that say otherwise ("llama3.1-8b,phase=decode,batch=32,cache=4096"), or an inline shape "H=12,N=512,E=64" (B, NQ and NKV as well; NQ and
// NKV override N), whose name is its text. A file's default name is its file name. Throws ConfigError.
Network load_network(const std::string& text);

}  // namespace attnvp::config
