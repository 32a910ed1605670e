// Bandwidth of one DRAM channel under one traffic generator, as a cycle-true simulator has it.
#pragma once

#include "explore/validate/data_set.h"

namespace attnvp::validate {

Kind dram_kind();

}  // namespace attnvp::validate
