// Workload of a machine: attention (attention.h), a matrix product or an operation on rows (operations.h), with the
// structure of the model around it (Model) if known. scope=layer and scope=model run operations in sequence (layers.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "platform/workload/attention.h"
#include "platform/workload/operations.h"

namespace attnvp::workload {

// Structure of a transformer model: blocks with counts, and their attention, norms and feed-forward network or experts.

// Position of norms: before an operation, behind the residual sum, before and behind an operation, or only behind it.
enum class NormPlace : std::uint8_t { kPre, kPost, kBoth, kBehind };

// Order of attention and feed-forward network: one behind the other, or side by side on one norm or on one norm each.
enum class Order : std::uint8_t { kSequential, kOneNorm, kTwoNorms };

// Tokens that need logits. kAuto: all new tokens in decode, the last one of a sequence otherwise.
enum class Logits : std::uint8_t { kAuto, kAll, kLast, kNone };

// Form of latent attention. kAuto: absorbed in decode, plain otherwise.
enum class LatentForm : std::uint8_t { kAuto, kAbsorbed, kPlain };

// Fusion of row operations with products: none, wherever a product can include them, or where that is faster.
enum class Fuse : std::uint8_t { kOff, kOn, kAuto };

// Layers of one kind: features of the model that they have.
struct Block {
  std::string name = "layer";
  std::uint32_t count = 1;
  bool has_window = true, has_experts = true, is_rotary = true;
  bool is_encoder = false;  // of the encoder's rows, without a mask
  bool has_cross = false;   // attention to the encoder's rows behind self-attention
};

// Latent attention (MLA): K and V are projections of one row of `kv_rank` + `rotary` elements a token.
struct Latent {
  std::uint32_t kv_rank = 0;                        // 0: none
  std::uint32_t q_rank = 0;                         // 0: Q has one projection
  std::uint32_t plain = 0, rotary = 0, values = 0;  // head widths: of Q and K without and with rotary embedding, of V
  LatentForm form = LatentForm::kAuto;
};

// Mixture of experts in place of the feed-forward network.
struct Experts {
  std::uint32_t count = 0;       // routed experts; 0: none
  std::uint32_t chosen = 1;      // routed experts of a token
  std::uint32_t ffn = 0;         // width of an expert
  std::uint32_t shared_ffn = 0;  // width of all shared experts together
  double skew = 0;               // exponent of Zipf's law of the experts' popularity; 0: all alike
  double capacity = 0;           // most tokens of an expert, as a multiple of the mean; 0: no limit
  std::uint32_t seed = 1;
};

struct Model {
  std::uint32_t layers = 1;           // of all blocks
  std::uint32_t hidden = 0, ffn = 0;  // of the hidden state and the feed-forward network; 0: unknown
  bool gated = false;                 // two up projections, one of which is the gate
  Norm norm = Norm::kLayerNorm;
  NormPlace norm_place = NormPlace::kPre;
  hal::Activation activation = hal::Activation::kGelu;  // of the feed-forward network
  bool rotary = false;                                  // rotary embedding of Q and K
  std::uint32_t rotary_emb = 0;                         // columns of a head that are rotated; 0: all
  bool qk_norm = false;                                 // norms of the heads of Q and K
  bool linear = false;                                  // matrix products and attention only
  Order order = Order::kSequential;
  Fuse fuse = Fuse::kOff;
  WeightType weights, expert_weights;  // of all products with weights; of those of routed experts
  Latent latent;
  Experts experts;

  std::vector<Block> blocks;  // empty: all layers are alike
  std::uint32_t block = 0;    // of scope=attention and scope=layer: its index, in keys its number from 1; 0: the first
  std::uint32_t encoder = 0;  // rows of the encoder; 0: none
  bool has_encoder_cache = false;  // K and V of the encoder's rows are cached, and its layers do not run
  std::uint32_t mel_bins = 0;      // of a frame of sound; convolutions of frames are the encoder's embedding; 0: none
  std::uint32_t vocabulary = 0;    // rows of the last projection; 0: none
  std::uint32_t positions = 0;     // learned positions; 0: none
  std::uint32_t patch = 0;         // elements of a patch, whose projection is the embedding; 0: a table of tokens
  bool tied = false;               // the last projection has the table of tokens as weights
  bool embedding_norm = false;     // norm behind the embedding
  Logits logits = Logits::kAuto;   // never kAuto in a complete model

  std::vector<Block> all_blocks() const;
  // "window, 22 of 26 layers; block=2 is full" for the selected block; empty: all layers are alike.
  std::string block_text() const;
  bool has_cross() const;  // some layers attend to the encoder's rows
};

// Parses "3*dense+58*experts" or "36*window.rotary+12*full.nope": counts and words. Calls `refuse` (which throws) with
// what is allowed.
std::vector<Block> parse_blocks(const std::string& text, const std::function<void(const std::string&)>& refuse);

// Tokens of every routed expert for `tokens` tokens, by the seeded draw of `experts.seed`; sum: tokens x chosen unless
// a capacity limits it.
std::vector<std::uint32_t> expert_tokens(const Experts& experts, std::uint64_t tokens);

// Experts with equal numbers of tokens.
struct ExpertGroup {
  std::uint32_t experts = 0, tokens = 0;
};
// Groups of the experts that have tokens, at most `most` (even); numbers of tokens that are near each other are
// averaged, so that the sum stays.
std::vector<ExpertGroup> expert_groups(std::vector<std::uint32_t> tokens, std::size_t most);

// Part of a model that is run: attention, all operations of one layer, or those of all layers.
enum class Scope : std::uint8_t { kAttention, kLayer, kModel };

// Extents as in reports: batch x heads products of seq_q x emb and emb x seq_kv elements. A matrix product has rows,
// columns and depth; a row operation has rows and columns.
struct Extents {
  std::uint32_t batch = 1, heads = 1, seq_q = 0, seq_kv = 0, emb = 1;
};

struct OperationGraph;

struct Workload {
  std::variant<Attention, Gemm, RowOperation> operation;
  Model model;  // model around attention
  Scope scope = Scope::kAttention;
  // Operations of a graph file (layers.h) in place of a layer's; scope is then kLayer, and `operation` is the graph's
  // first attention, or its first operation.
  std::shared_ptr<const OperationGraph> graph;

  Workload() = default;
  Workload(Attention a) : operation(std::move(a)) {}     // NOLINT(google-explicit-constructor)
  Workload(Gemm g) : operation(std::move(g)) {}          // NOLINT(google-explicit-constructor)
  Workload(RowOperation r) : operation(std::move(r)) {}  // NOLINT(google-explicit-constructor)

  bool is_attention() const { return std::holds_alternative<Attention>(operation); }
  const Attention& attention() const { return std::get<Attention>(operation); }
  Attention& attention() { return std::get<Attention>(operation); }
  const Gemm* gemm() const { return std::get_if<Gemm>(&operation); }
  const RowOperation* rows() const { return std::get_if<RowOperation>(&operation); }

  const std::string& name() const;
  Extents extents() const;
  hal::ElementType type() const;  // of the operands
  hal::ElementType out() const;   // of the result
  // Some operand or result is stored in another type than FP16.
  bool is_typed() const {
    return type() != hal::ElementType::kFp16 || out() != hal::ElementType::kFp16 || weights().any();
  }
  // Operands in DRAM are not those of the host, which are FP16.
  bool has_typed_operands() const { return is_typed() && rows() == nullptr; }
  WeightType weights() const { return gemm() == nullptr ? WeightType() : gemm()->weights; }
  bool has_softmax() const;
  std::uint64_t result_elements() const;
  std::uint32_t heads_of_kv() const { return is_attention() ? attention().heads_of_kv() : 1; }
  // With the queries of a group of heads concatenated (Attention::folded).
  Workload folded() const;
  bool is_ragged() const { return is_attention() && attention().ragged(); }
  std::string rules() const;  // of mask, scale and types: " causal=1 history=16"; may be empty
  // Everything that results depend on except the name, as key=value words.
  std::string identity() const;
};

// Loads a workload from a text of `--net`. Throws ConfigError.
// - a name under configs/networks, a path, or "hf:" and the path of a Hugging Face configuration, optionally with
//   overriding keys ("llama3.1-8b,phase=decode,batch=32,cache=4096"); default name: the file name
// - an inline shape "H=12,N=512,E=64" (also B, NQ and NKV; NQ and NKV override N), named by its text
// - an operation ("gemm:512x2304x768")
// - the path of a graph file (layers.h)
Workload load(const std::string& text);

// Attention for a batch of requests from a CSV file with columns new_tokens, cached_tokens and, for paged caches,
// block_table. Its lengths override the layer's. Throws ConfigError with file and line.
Workload load(const std::string& text, const std::string& requests);
Workload with_requests(const Workload& workload, const std::string& path);

// Resolves the relative paths of a network text (network file or folder, bias, block mask) against a folder. Names and
// shapes are unchanged.
std::string with_absolute_paths(const std::string& text, const std::string& folder);

// Throws ConfigError if the scope is a layer or a model.
void refuse_scope(const Workload& workload);

}  // namespace attnvp::workload
