// Parts of a model as operations (layers.h) with the tensors between them: a block's layer, the ends of the model,
// conversions of types, and fusion.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "platform/workload/layers.h"

namespace attnvp::workload {

inline constexpr const char* kHiddenState = "hidden state";  // the tensor that a layer begins with

// The workload is complete, and its model has a width.
std::vector<LayerOperation> operations_of_block(const Workload& workload, const Block& block);

// Inputs of the norm `name` of a tensor: with the vectors gamma, and beta of a layer norm.
std::vector<std::string> norm_inputs(const std::string& x, const std::string& name, Norm norm);

// Conversions in layers of types of one byte: operations between products read and write FP16, and products and
// attention read their own type. Results of BF16 have as many bytes as those of FP16 and are not converted.

// Adds a conversion before each product or attention whose operand another operation wrote in FP16. A tensor that is
// read as a whole is converted once, otherwise the parts that a view takes from it. Sums and norms read the FP16
// tensor.
std::vector<LayerOperation> with_conversions(std::vector<LayerOperation> operations);

// Ends of a model: embeddings, the norm behind an encoder, and the last projection.

// Rows of the table of tokens (and of positions), or the projection of patches.
LayerGroup embedding_of(const Workload& workload);
// The encoder's: rows of the table that the decoder has, too, or two convolutions of frames of sound.
LayerGroup encoder_embedding_of(const Workload& workload);
LayerGroup encoder_norm_of(const Workload& workload);
LayerGroup last_projection_of(const Workload& workload);

// Fusion of row operations with the matrix products beside them (Fusion in operations.h).

// Whether the operations `together` replace those `apart`; both are in sequence.
using FusionChoice = std::function<bool(const std::vector<const LayerOperation*>& apart,
                                        const std::vector<const LayerOperation*>& together)>;

// Operations of a layer, in which products include, as far as `choice` accepts: an activation, a rotary embedding, a
// sum or a conversion to FP8 that alone reads their result, the norm that alone they read, and then a second product
// that alone reads the result. A fused operation is where its last part was. Then a product whose last columns are all
// new rows of K and V stores them into the cache, in place of attention.
std::vector<LayerOperation> fused(std::vector<LayerOperation> operations, const FusionChoice& choice);

}  // namespace attnvp::workload
