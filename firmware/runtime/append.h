// Cache update before attention: DMA copies K and V of the new tokens into the (possibly paged) cache. Clusters share
// batches and heads, and all of them synchronise at the end.
#pragma once

#include "firmware/runtime/runtime.h"

namespace attnvp::firmware {

void append(Runtime& rt);

}  // namespace attnvp::firmware
