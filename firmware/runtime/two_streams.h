// The MAC and the VEC stream side by side (MAS-Attention Algorithm 1): softmax of one row block on VEC while MAC
// multiplies for the blocks around it. The two go on across heads; they are filled once and drained once.
#pragma once

#include "firmware/runtime/tiling.h"

namespace attnvp::firmware {

// Chooses the tiling, runs the job, returns the tiling.
hal::Tiling run_two_streams(Runtime& rt);

}  // namespace attnvp::firmware
