// GEMM and softmax by themselves on a GPU, by shape.
#pragma once

#include "explore/validate/data_set.h"

namespace attnvp::validate {

Kind step_kind();

}  // namespace attnvp::validate
