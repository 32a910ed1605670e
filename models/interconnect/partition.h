// Partition of a machine for one of several simultaneous jobs. In its firmware's view, clusters are numbered from 0,
// and mailbox, DRAM and L2 are at their usual base addresses. These addresses are translated to the platform's address
// map (place()). Translation takes place at the control processor's port and at the command queues, in zero time. It
// does not protect partitions from each other.
#pragma once

#include <cstdint>

#include "firmware/hal/descriptor.h"
#include "firmware/hal/registers.h"

namespace attnvp {

struct Partition {
  std::uint32_t first_cluster = 0;
  std::uint64_t mailbox = 0, dram = 0, l2 = 0;  // offset in bytes from the machine's base to that of the partition

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
