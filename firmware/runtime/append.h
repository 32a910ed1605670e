// What comes before attention where there is a cache: K and V of the new tokens are copied to their places in it, in
// pages where it has them. Clusters share batches and heads; all wait until all are done.
#pragma once

#include "firmware/runtime/runtime.h"

namespace attnvp::firmware {

void append(Runtime& rt);

}  // namespace attnvp::firmware
