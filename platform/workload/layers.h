// Layers of a model as sequences of operations: norms, projections, rotary embedding, attention, feed-forward network
// or experts, residual sums. A model is its embedding, its blocks (model.h), and its last projection.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/workload/layer/views.h"
#include "platform/workload/workload.h"

namespace attnvp::workload {

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

}  // namespace attnvp::workload
