// Structure of a transformer model and its layer as a sequence of operations: norms, projections, rotary embedding,
// attention, feed-forward network with activation, residual sums.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/workload/operations.h"

namespace attnvp::workload {

struct Workload;

// Part of a model that is run: attention, all operations of one layer, or those of all layers.
enum class Scope : std::uint8_t { kAttention, kLayer, kModel };

// Position of norms: before an operation, behind the residual sum, or before and behind an operation.
enum class NormPlace : std::uint8_t { kPre, kPost, kBoth };

struct Model {
  std::uint32_t layers = 1;           // identical layers
  std::uint32_t hidden = 0, ffn = 0;  // of the hidden state and the feed-forward network; 0: unknown
  bool gated = false;                 // two up projections, one of which is the gate
  Norm norm = Norm::kLayerNorm;
  NormPlace norm_place = NormPlace::kPre;
  hal::Activation activation = hal::Activation::kGelu;  // of the feed-forward network
  bool rotary = false;                                  // rotary embedding of Q and K
  bool qk_norm = false;                                 // norms of the heads of Q and K
  bool linear = false;                                  // matrix products and attention only
};

struct LayerOperation;

std::uint64_t tokens_of(const Workload& workload);  // new tokens of all batches or requests

// Operations of one layer for all tokens of the batch. Throws ConfigError if the model's width is unknown.
std::vector<LayerOperation> operations_of(const Workload& workload);

}  // namespace attnvp::workload
