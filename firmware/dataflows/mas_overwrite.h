// MAS-Attention with the proactive overwrite of section 4.3.
#pragma once

#include "firmware/runtime/runtime.h"

namespace attnvp::firmware {

void run_mas_overwrite(Runtime& rt, const RowTiling& tiling);

}  // namespace attnvp::firmware
