// Ends of a model: embeddings, the norm behind an encoder, and the last projection.
#pragma once

#include "platform/workload/layers.h"

namespace attnvp::workload {

// Rows of the table of tokens (and of positions), or the projection of patches.
LayerGroup embedding_of(const Workload& workload);
// The encoder's: rows of the table that the decoder has, too, or two convolutions of frames of sound.
LayerGroup encoder_embedding_of(const Workload& workload);
LayerGroup encoder_norm_of(const Workload& workload);
LayerGroup last_projection_of(const Workload& workload);

}  // namespace attnvp::workload
