// Results of CACTI for scratch RAMs beside those of the platform's SRAM model.
#pragma once

#include "explore/validate/data_set.h"

namespace attnvp::validate {

Kind sram_kind();

}  // namespace attnvp::validate
