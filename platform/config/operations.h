// A model's layer as the operations that run one after the other: norms, projections, rotary embedding, attention, the
// feed-forward network and its activation, residual sums. With `linear` its products and attention alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/config/network.h"

namespace attnvp::config {

struct Operation {
  std::string name;  // "attention norm", "qkv", "attention", "out", "attention sum", "up", "activation", "down", ...
  Network network;
};

std::uint64_t tokens_of(const Network& network);  // that a layer is for: new ones of all batches, or requests

// Of one layer for all tokens of the network's batch. Throws ConfigError where the model's width is not known.
std::vector<Operation> operations_of(const Network& network);

// For what takes attention, or a step, only. Throws ConfigError where that is a layer or a model.
void refuse_scope(const Network& network);

}  // namespace attnvp::config
