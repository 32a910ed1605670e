// All three operators of a row block, then the next (FLAT): one block of scores for each core in L1.
#pragma once

#include "firmware/runtime/runtime.h"
#include "firmware/runtime/tiling.h"

namespace attnvp::firmware {

// `prefetch`: loads of the next blocks and stores run behind the computation; otherwise they take turns with it.
void in_turn(Runtime& rt, const RowTiling& tiling, bool prefetch);

}  // namespace attnvp::firmware
