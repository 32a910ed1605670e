// A part of a machine that has a job to itself. Its firmware sees a machine with that part's clusters, numbered from 0,
// and with mailbox, DRAM and L2 that begin where a whole machine's do: what its control processors say, addresses of
// their own accesses and those in commands, is moved to where the part is, at the processor's port and where a queue
// takes a command. Behind these, everything has the platform's one address map. It takes no time and guards nothing.
#pragma once

#include <cstdint>

#include "firmware/hal/descriptor.h"
#include "firmware/hal/registers.h"

namespace attnvp {

struct Partition {
  std::uint32_t first_cluster = 0;
  std::uint64_t mailbox = 0, dram = 0, l2 = 0;  // bytes from the machine's first one to its own

  std::uint64_t place(std::uint64_t address) const {
    if (address >= hal::kL1Base) return address + first_cluster * hal::kL1Stride;
    if (address >= hal::kL2Base) return address + l2;
    if (address >= hal::kDramBase) return address + dram;
    if (address >= hal::kControlBase) return address + first_cluster * hal::kClusterStride;
    if (address >= hal::kMailboxBase) return address + mailbox;
    return address;
  }
  void place(hal::Descriptor& d) const {
    for (hal::Operand& operand : d.operand) operand.address = place(operand.address);
    if (d.remote > 0) d.remote += first_cluster;
  }
};

}  // namespace attnvp
