// Fusion of row operations with the matrix products beside them (Fusion in operations.h).
#pragma once

#include <functional>
#include <vector>

#include "platform/workload/layers.h"

namespace attnvp::workload {

// Whether the operations `together` replace those `apart`; both are in sequence.
using FusionChoice = std::function<bool(const std::vector<const LayerOperation*>& apart,
                                        const std::vector<const LayerOperation*>& together)>;

// Operations of a layer, in which products include, as far as `choice` accepts: an activation, a rotary embedding, a
// sum or a conversion to FP8 that alone reads their result, the norm that alone they read, and then a second product
// that alone reads the result. A fused operation is where its last part was. Then a product whose last columns are all
// new rows of K and V stores them into the cache, in place of attention.
std::vector<LayerOperation> fused(std::vector<LayerOperation> operations, const FusionChoice& choice);

}  // namespace attnvp::workload
