// Operations of one layer of a block (layers.h), with the tensors between them.
#pragma once

#include <string>
#include <vector>

#include "platform/workload/layers.h"

namespace attnvp::workload {

inline constexpr const char* kHiddenState = "hidden state";  // the tensor that a layer begins with

// The workload is complete, and its model has a width.
std::vector<LayerOperation> operations_of_block(const Workload& workload, const Block& block);

// Inputs of the norm `name` of a tensor: with the vectors gamma, and beta of a layer norm.
std::vector<std::string> norm_inputs(const std::string& x, const std::string& name, Norm norm);

}  // namespace attnvp::workload
