// The MAC and the VEC stream side by side (MAS-Attention Algorithm 1): softmax of one row block on VEC while MAC
// multiplies for the blocks around it. The two go on across heads; they are filled once and drained once.
#pragma once

#include "firmware/runtime/tiling.h"

namespace attnvp::firmware {

void run_two_streams(Runtime& rt, const RowTiling& tiling);

}  // namespace attnvp::firmware
