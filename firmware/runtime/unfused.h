// Operators that unfused dataflows share.
#pragma once

#include "firmware/runtime/attention.h"

namespace attnvp::firmware {

// All of O = P V, with P coming from DRAM. Nothing else may be under way.
void o_from_dram(Runtime& rt, const Work& work, Attention& attention, const RowTiling& tiling,
                 const ScoreBlocks& scores);

// Fails where L1 will have no room for V, which takes the place of K.
void check_space_of_v(Runtime& rt, const Work& work, const RowTiling& tiling);

}  // namespace attnvp::firmware
