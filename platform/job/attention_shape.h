// A layer as the golden reference and the random tensors see it.
#pragma once

#include "platform/config/network.h"
#include "platform/job/golden.h"

namespace attnvp::job {

// With the queries of a group of heads behind one another. It refers to the layer.
AttentionShape shape_of(const config::Network& network);

}  // namespace attnvp::job
