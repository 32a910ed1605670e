// Whether a copy is one that a DMA controller does: its shape, both sides within memories of the address map, and where
// its source passes L1 by, that it leaves the cluster's own.
#pragma once

#include "firmware/hal/descriptor.h"
#include "models/engine/descriptor_check.h"
#include "models/interconnect/address_map.h"

namespace attnvp {

Refusal check_copy(const hal::Descriptor& descriptor, const AddressMap& map, std::uint64_t own_l1);

}  // namespace attnvp
