// FLAT schedule: all three operators of a row block, then the next row block. One block of scores per core is in L1.
#pragma once

#include "firmware/runtime/runtime.h"
#include "firmware/runtime/tiling.h"

namespace attnvp::firmware {

// `prefetch`: transfers overlap computation; otherwise they alternate with it.
void in_turn(Runtime& rt, const RowTiling& tiling, bool prefetch);

}  // namespace attnvp::firmware
