// Workload of a machine: attention (attention.h), a matrix product or an operation on rows (operations.h), with the
// model around it (model.h) if known. scope=layer and scope=model run operations in sequence (layers.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "platform/workload/attention.h"
#include "platform/workload/model.h"
#include "platform/workload/operations.h"

namespace attnvp::workload {

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
  // Operations of a graph file (graph.h) in place of a layer's; scope is then kLayer, and `operation` is the graph's
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
// - the path of a graph file (graph.h)
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
