// Attention layers: which shapes the machine computes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "firmware/hal/block_mask.h"
#include "firmware/hal/descriptor.h"
#include "firmware/hal/mask.h"
#include "models/arith/half.h"
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
enum class Step : std::uint8_t { kAttention, kGemm, kSoftmax, kNorm, kElementwise, kActivate, kRotate };
enum class Scope : std::uint8_t { kAttention, kLayer, kModel };

// What a model's layer does besides attention and products (operations.h).
enum class Norm : std::uint8_t { kLayerNorm, kRmsNorm, kNone };
enum class NormPlace : std::uint8_t {
  kPre,
  kPost,
  kBoth
};  // before what follows, behind the sum, around what is added

// What is added to the scores, by the places of query and key.
enum class Bias : std::uint8_t { kNone, kAlibi, kRelative, kTensor };

// A bias as numbers, of [batch, heads of Q, queries, keys]; where there is one only, it is that of all.
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
  std::vector<std::uint32_t> map;    // of blocks, where mask.block is not 0: hal::BlockMask's words
  std::vector<std::uint32_t> valid;  // keys of each batch that count, where it is padded
  Bias bias = Bias::kNone;
  std::shared_ptr<const BiasTensor> bias_tensor;    // where it is one
  std::uint32_t scale_block = 0;                    // INT8: tokens that share a scale; 0: all of a head do
  bool append = false;                              // K and V of new tokens are put into the cache before; of requests,
  bool appends_requests = true;                     //   whether they are
  float scale = 1;                                  // of the scores
  hal::ElementType type = hal::ElementType::kFp16;  // of Q, K, V and P
  hal::ElementType out = hal::ElementType::kFp16;   // of O
  float soft_cap = 0;                               // of the scaled scores: cap * tanh(score / cap); 0: none
  bool softmax = true;                              // between the two matmuls; otherwise they are a chain: (Q.K^T).V
  std::vector<Request> requests;                    // in place of `batch` equal ones; contexts are their tokens then
  std::uint32_t page = 0;                           // tokens in a page of the cache; 0: it has none
  std::uint32_t cache_pages = 0;                    // in it; 0: as many as are needed
  std::uint32_t layers = 1;                         // of the model, all like this one: one is run
  std::uint32_t hidden = 0, ffn = 0;  // widths of the model between its operations and in its feed-forward network
  bool gated = false;                 // whose first product is two of them
  Norm norm = Norm::kLayerNorm;
  NormPlace norm_place = NormPlace::kPre;
  hal::Activation activation = hal::Activation::kGelu;  // of the feed-forward network
  hal::Opcode elementwise = hal::Opcode::kAdd;          // of a step of that kind
  bool rotary = false;                                  // Q and K are turned by their positions
  bool qk_norm = false;                                 // heads of Q and K are normalised
  bool linear = false;                                  // its products and attention alone
  Step step = Step::kAttention;
  Scope scope = Scope::kAttention;

  std::uint32_t heads_of_kv() const { return kv_heads > 0 ? kv_heads : heads; }
  bool ragged() const { return !contexts.empty(); }
  std::uint32_t context(std::uint32_t b) const { return ragged() ? contexts[b] : seq_kv; }
  bool typed() const { return type != hal::ElementType::kFp16 || out != hal::ElementType::kFp16; }
  // Firmware must be told of more than shapes of FP16 (hal::Types).
  bool beyond_fp16() const { return typed() || soft_cap > 0 || value_emb > 0; }
  std::uint64_t query_elements() const;  // of Q
  std::uint32_t queries_of(std::uint32_t b) const {
    return requests.empty() ? seq_q : group() * requests[b].new_tokens;
  }
  hal::Mask mask_of(std::uint32_t b) const;  // of that batch
  hal::BlockMask block_mask() const {
    return {map.empty() ? nullptr : map.data(), mask.block == 0 ? 0 : hal::map_stride(mask, seq_kv)};
  }
  std::uint32_t valid_keys(std::uint32_t b) const { return valid.empty() ? context(b) : valid[b]; }
  std::uint32_t visible_keys(std::uint32_t b, std::uint32_t token) const;  // how many
  // Of new tokens that are put into the cache: of that batch, and the keys before them.
  std::uint32_t new_tokens(std::uint32_t b) const {
    return requests.empty() ? seq_q / group() : requests[b].new_tokens;
  }
  std::uint32_t cached_tokens(std::uint32_t b) const {
    return requests.empty() ? mask.history : requests[b].cached_tokens;
  }
  std::uint64_t appended_rows() const;  // of K, all heads and batches
  std::uint32_t group() const { return folded_group > 0 ? folded_group : 1; }
  // Pages of the batches, one behind the other; how many the cache has; whether several batches have one of them.
  std::vector<std::uint32_t> page_table() const;
  std::uint32_t pages() const;
  bool shares_pages() const;
  std::uint64_t key_elements() const;                                                  // of K, without room in pages
  std::uint32_t values() const { return value_emb > 0 ? value_emb : emb; }             // columns of V and O
  std::uint64_t value_elements() const { return key_elements() / emb * values(); }     // of V
  std::uint64_t output_elements() const { return query_elements() / emb * values(); }  // of O
  std::uint32_t folded_group = 0;        // folded: heads of Q that a head's rows are of
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

// Whether K and V of new tokens are put into the cache: where there is one, or as said.
enum class Append : std::uint8_t { kAuto, kOff, kOn };

// Of a layer; auto: as gated or not.
enum class NormKind : std::uint8_t { kAuto, kLayerNorm, kRmsNorm, kNone };
enum class ActivationKind : std::uint8_t { kAuto, kRelu, kSilu, kGelu, kGeluTanh };

// What lies between the two matmuls.
enum class Between : std::uint8_t { kSoftmax, kNothing };

// The keys of a network file. `seq` stands for both lengths; seq_q and seq_kv override it.
struct NetworkKeys {
  Network network;
  std::uint32_t seq = 0;
  std::string contexts;
  std::uint32_t causal = 0, history = kNoHistory, gated = 0, alibi = 0, relative = 0, rotary = 0, qk_norm = 0,
                linear = 0;
  NormKind norm = NormKind::kAuto;
  ActivationKind activation = ActivationKind::kAuto;
  std::string scale, soft_cap, block_mask, valid, bias;
  Append append = Append::kAuto;
  Phase phase = Phase::kPrefill;
  Between between = Between::kSoftmax;
  std::string type = "fp16", out = "auto";  // names; auto: as the layer's
  static constexpr std::uint32_t kNoHistory = 0xFFFF'FFFF;
};
const Schema<NetworkKeys>& network_schema();

// The short names of inline shapes with the keys they stand for: {"B", "batch"}, {"H", "heads"}, ...
const std::vector<std::pair<std::string, std::string>>& inline_names();

// ALiBi's slope of a head of Q (Press, Smith, Lewis 2022), and what stands for T5's learned bias of a bucket.
float alibi_slope(std::uint32_t head, std::uint32_t heads);
arith::Half relative_bias(std::uint32_t head, std::uint32_t bucket);
// A query's bias, of head `head` of Q, batch after batch: what the machine adds to its scaled score, before it is
// rounded.
double bias_of(const Network& network, std::uint32_t head, std::uint32_t query, std::uint32_t key);

// Reads a block mask: a line "block N", then a row of 0 and 1 for each block of new tokens. Throws ConfigError.
void read_block_mask(Network& network, const std::string& path);
// Reads a bias: a .npy file. Throws ConfigError.
void read_bias(Network& network, const std::string& path);
void check_bias(const Network& network, const std::string& what);  // every query keeps a key; throws likewise
// Every query must attend to a key: throws ConfigError with the first one that does not.
void check_visible(const Network& network, const std::string& what);

// The layer for a batch of requests: a file with columns new_tokens, cached_tokens and, where the cache has pages,
// block_table. Throws ConfigError with file and line.
Network with_requests(const Network& network, const std::string& path);

// A name under configs/networks, a path, "hf:" and the path of a Hugging Face configuration, each with keys behind it
// that say otherwise ("llama3.1-8b,phase=decode,batch=32,cache=4096"), or an inline shape "H=12,N=512,E=64" (B, NQ and
// NKV as well; NQ and NKV override N), whose name is its text. A file's default name is its file name. Throws
// ConfigError.
Network load_network(const std::string& text);

// The same for a batch of requests, whose lengths stand in place of the layer's own. Throws ConfigError.
Network load_network(const std::string& text, const std::string& requests);
struct Lengths {
  std::uint32_t batch = 0, seq_q = 0, seq_kv = 0;
};
Network load_network(const std::string& text, const Lengths& lengths);

// A layer's text whose relative paths are absolute, as seen from a folder: of the layer's own file or folder, of a bias
// and of a block mask. Names and shapes stay.
std::string with_absolute_paths(const std::string& text, const std::string& folder);

}  // namespace attnvp::config
