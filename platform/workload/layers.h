// Layers of a model as sequences of operations: norms, projections, rotary embedding, attention, feed-forward network
// or experts, residual sums. A model is its embedding, its blocks (Block), and its last projection. A graph file gives
// operations directly. Views rearrange tensors between operations.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "platform/machine/document.h"
#include "platform/workload/attention.h"
#include "platform/workload/workload.h"

namespace attnvp::workload {

// Rearrangements of tensors between operations: slices, transposes of heads, concatenations, repeats. They take no time
// and no traffic: the operations read and write rows where the tensors lie.

// output[to + sum i to_stride] = input[from + sum i from_stride] for all i < extent, in elements.
struct StridedCopy {
  std::string input;
  std::uint64_t from = 0, to = 0;
  std::array<std::uint64_t, 4> extent{1, 1, 1, 1}, from_stride{}, to_stride{};
};

// Elements that no part writes are 0. Later parts replace earlier ones.
struct TensorView {
  std::string output;
  std::uint64_t elements = 0;
  std::vector<StridedCopy> parts;
};

// Part of a matrix: `columns` of rows that are `stride` elements apart.
struct MatrixPart {
  std::uint64_t at = 0, stride = 0;
};
StridedCopy copy_of_rows(const std::string& input, std::uint64_t rows, std::uint64_t columns, const MatrixPart& from,
                         const MatrixPart& to);
TensorView view_of_rows(const std::string& output, const std::string& input, std::uint64_t rows, std::uint64_t columns,
                        const MatrixPart& from);

// Columns of heads in rows of tokens: element e of head h of a token is at `from` + token x row + h x head + e.
struct HeadColumns {
  std::string input;
  std::uint64_t from = 0, row = 0, head = 0;
  std::uint32_t columns = 0;
};

// Adds the columns `first`.. of an attention's Q ([batch, heads, queries, width]), from rows of new tokens.
void add_queries(TensorView& view, const Attention& attention, std::uint32_t width, std::uint32_t first,
                 const HeadColumns& source);

// Adds columns of K or V ([batch, heads of K, keys, width]). Rows of new tokens become the last keys, or those behind
// the cache; with `all_keys` the source has a row for each key.
void add_keys(TensorView& view, const Attention& attention, std::uint32_t width, std::uint32_t first,
              const HeadColumns& source, bool all_keys = false);

// O ([batch, heads, queries, width]) as rows of tokens with the columns of `heads` heads.
TensorView rows_of_output(const std::string& output, const std::string& input, const Attention& attention,
                          std::uint32_t heads);

// Shape of a tensor as a matrix: [batch, heads, rows, columns] has rows of batch x rows and columns of all heads, other
// shapes have the columns of their last extent. In the entries of a graph file (docs/reference/file-formats.md).
struct ShapedTensor {
  std::string name;
  std::vector<std::uint64_t> shape;
  std::uint64_t elements() const;
};
// `inputs` one behind the other in `output`. `column`: first column of the only input that it has; it is then advanced.
TensorView view_by_shape(const ShapedTensor& output, const std::vector<ShapedTensor>& inputs, std::uint64_t& column);

struct LayerOperation {
  std::string name;  // "attention norm", "qkv", "attention", "out", "attention sum", "up", "activation", "down", ...
  Workload workload;
  std::uint32_t count = 1;       // times in the layer, one after the other
  std::uint64_t parameters = 0;  // of all times together, also of experts without tokens
  std::uint64_t active = 0;      // parameters that one token multiplies
  std::uint64_t waiting = 0;     // elements of tensors of rows x hidden that wait for a later operation
  // Names of tensors, in the order of the job's operands: A, B; Q, K, V; X and gamma, beta or angles; both summands. A
  // tensor that neither an operation nor a view writes is an input or a weight. With `count`, tensors have the elements
  // of all times.
  std::vector<std::string> inputs, outputs;
  std::vector<TensorView> views{};  // made before it, in this order
};

// Layers with equal operations.
struct LayerGroup {
  std::string name;         // "embedding", of a block, "last projection"
  std::uint32_t count = 1;  // layers
  std::vector<LayerOperation> operations;
};

// New tokens of all batches or requests; rows of the encoder if scope=layer selects a layer of it.
std::uint64_t tokens_of(const Workload& workload);

// Operations of one layer of the selected block, for all tokens of the batch; fused with Fuse::kOn. Throws ConfigError
// if the model's width is unknown.
std::vector<LayerOperation> operations_of(const Workload& workload);

// scope=layer: the selected block alone, one layer. scope=model: all layers. Throws as operations_of does.
std::vector<LayerGroup> groups_of(const Workload& workload);

struct ParameterCount {
  std::uint64_t all = 0;     // without biases of products
  std::uint64_t active = 0;  // multiply-accumulates of a token in products, the last projection included
};
ParameterCount parameters_of(const std::vector<LayerGroup>& groups);

// Attention of a layer of a block, in its form of latent attention.
Attention attention_of(const Workload& workload, const Block& block);
// Attention to the encoder's rows.
Attention cross_attention_of(const Workload& workload);

// Graph of operations from a file: tensors, and operations with their texts of `--net`, which run one after the other
// in the order of the file. The form is in docs/reference/file-formats.md, "Graph file".

// Operation that the file's writer could not express; it is not run.
struct UnsupportedOperation {
  std::string name, operation;
  double share_of_macs = 0;  // of the multiply-accumulates of the graph, 0 to 1
};

struct OperationGraph {
  std::string name;
  std::vector<LayerOperation> operations;
  std::vector<UnsupportedOperation> unsupported;
};

// True if the file's root has the key GRAPH.
bool is_graph(const config::Document& document);

// Throws ConfigError with file and line: unknown keys, tensors or operations; an operation that reads a tensor before
// it is written; a tensor that is written twice; a tensor whose elements differ from those of the operation.
OperationGraph read_graph(const config::Document& document, const std::string& default_name);

}  // namespace attnvp::workload
