// MAS-Attention with the proactive overwrite of section 4.3. Sizes are in bytes.
#pragma once

#include "firmware/runtime/runtime.h"
#include "firmware/runtime/work.h"

namespace attnvp::firmware {

// True if K and V of one head are resident and nothing is double-buffered.
bool can_overwrite(const RowTiling& tiling);
uint64_t score_block_bytes(const Runtime& rt, const RowTiling& tiling);  // C or P of one row block
void run_mas_overwrite(Runtime& rt, const Work& work, const RowTiling& tiling);

}  // namespace attnvp::firmware
