// Operators shared by unfused dataflows.
#pragma once

#include "firmware/runtime/attention/attention.h"

namespace attnvp::firmware {

// Computes all of O = P V with P from DRAM. No other command may be in flight.
void o_from_dram(Runtime& rt, const Work& work, AttentionSteps& attention, const RowTiling& tiling,
                 const ScoreBlocks& scores);

// Fails if L1 cannot hold V, which replaces K.
void check_space_of_v(Runtime& rt, const Work& work, const RowTiling& tiling);

}  // namespace attnvp::firmware
