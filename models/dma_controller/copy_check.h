// Whether a copy is one that a DMA controller does: its shape, and both sides within memories of the address map.
#pragma once

#include "firmware/hal/descriptor.h"
#include "models/engine/descriptor_check.h"
#include "models/interconnect/address_map.h"

namespace attnvp {

Refusal check_copy(const hal::Descriptor& descriptor, const AddressMap& map);

}  // namespace attnvp
