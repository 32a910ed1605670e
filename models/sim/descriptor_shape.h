// Shape of a descriptor: everything that its time, counts and stall reasons depend on. Descriptors of equal shape may
// differ in trace labels, in the address in DRAM and in their position under the mask.
#pragma once

#include <cstdint>

#include "firmware/hal/descriptor.h"

namespace attnvp {

// The operand in DRAM, if there is exactly one; -1 otherwise.
int dram_operand(const hal::Descriptor& descriptor);

// Sets the labels, and a position under the mask that has no effect on time, to a value of their own. Rows that attend
// to all keys of the descriptor have no position. With a causal mask alone, the distance of rows and keys remains.
void make_canonical(hal::Descriptor& descriptor);

}  // namespace attnvp
