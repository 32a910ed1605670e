// Fused pairs of GEMMs on an accelerator in RTL, by shape and tile sizes.
#pragma once

#include "explore/validate/data_set.h"

namespace attnvp::validate {

Kind chain_kind();

}  // namespace attnvp::validate
