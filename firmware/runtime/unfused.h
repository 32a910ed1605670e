// Operators that unfused dataflows share.
#pragma once

#include "firmware/runtime/attention.h"

namespace attnvp::firmware {

// All of O = P V, with P coming from DRAM. Nothing else may be under way.
void o_from_dram(Runtime& rt, const Work& work, Attention& attention, const RowTiling& tiling,
                 const ScoreBlocks& scores);

}  // namespace attnvp::firmware
