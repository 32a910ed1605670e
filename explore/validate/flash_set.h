// FlashAttention-2 and -3 forward on a GPU, by head size, length and mask.
#pragma once

#include "explore/validate/data_set.h"

namespace attnvp::validate {

Kind flash_kind();

}  // namespace attnvp::validate
