// Check of a copy descriptor: its shape, and that both sides are within memories of the address map. With kForwarded
// (an engine's result that bypasses L1) the copy must leave the cluster's own L1.
#pragma once

#include "firmware/hal/descriptor.h"
#include "models/engine/descriptor_check.h"
#include "models/interconnect/address_map.h"

namespace attnvp {

Refusal check_copy(const hal::Descriptor& descriptor, const AddressMap& map, std::uint64_t own_l1);

}  // namespace attnvp
