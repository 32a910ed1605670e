// A model's layer as the operations that run one after the other: projections, attention, and the feed-forward network.
// What costs a machine little beside them is left out: norms, activations, residual sums and rotary embeddings, whose
// elements are a few for each token where the others have thousands.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/config/network.h"

namespace attnvp::config {

struct Operation {
  std::string name;  // "qkv", "attention", "out", "up", "down"
  Network network;
};

// Of one layer for all tokens of the network's batch. Throws ConfigError where the model's width is not known.
std::vector<Operation> operations_of(const Network& network);

// For what takes attention, or a step, only. Throws ConfigError where that is a layer or a model.
void refuse_scope(const Network& network);

}  // namespace attnvp::config
