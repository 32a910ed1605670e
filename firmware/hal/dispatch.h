// Dispatch register: a mailbox word that models how a GPU hands out work. Firmware writes a Dispatch value, and the
// write stalls for as long as the machine takes to dispatch.
#pragma once

#include <cstdint>

#include "firmware/hal/job.h"

namespace attnvp::hal {

enum Dispatch : std::uint32_t {
  kBlock = 1,   // the next thread block of a worker
  kKernel = 2,  // one more kernel
};
constexpr std::uint64_t kDispatchAddress = kJobAddress + 0x3'01C0;
static_assert(kDispatchAddress >= kTypesAddress + sizeof(Types) && kDispatchAddress + 4 <= kScalesAddress,
              "a word of its own");

}  // namespace attnvp::hal
