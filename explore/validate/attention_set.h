// Attention kernels of a serving system, measured by phase and lengths.
#pragma once

#include "explore/validate/data_set.h"

namespace attnvp::validate {

Kind attention_kind();

}  // namespace attnvp::validate
